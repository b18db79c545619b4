/// ndfile for C++17: n-dimensional arrays in files. Header-only; link with libndfile.
///
/// \code
///   std::vector<float> t = ndfile::load<float>("weather.ds", "t");                  // one array of a small file
///   ndfile::save("weather.ds", {ndfile::item("t", t, {2, 3}).dims({"y", "x"})});    // a new file, whole or not at all
///
///   ndfile::file f = ndfile::file::open("weather.ds");                              // lazy: reads what is asked for
///   std::vector<double> column = f.array("t").read<double>({{0, 2}, {2, 1}});       // start, count along each axis
/// \endcode
///
/// ERRORS      Every function that is not noexcept can throw ndfile::error, which has the code of ndfile.h, and
///             std::bad_alloc or std::length_error where memory is short. Destructors do not throw.
/// OWNERSHIP   Files and arrays are closed by their destructors, in any order; an array keeps the file that it was
///             read from open. They are moved, never copied. One that was moved from or closed owns nothing: closing it
///             again does nothing, using it is error(NDF_ERR_HANDLE). The library keeps no pointer of the caller.
/// ARRAYS      Shapes, starts, counts and steps are in elements, row-major (the last axis varies fastest); strides are
///             in bytes. A mask has one byte an element, 1 = missing. JSON goes in and out as UTF-8 text.
/// MEMORY      Elements come from and go to any contiguous memory: std::vector, std::array, std::span, C arrays,
///             ndfile::span(pointer, size); or, with gaps or another order of axes, ndfile::strided.
/// THREADS     Any thread may use any object, and several threads the same one, as far as none moves, closes or
///             destroys it. Reads of one file run in parallel, as do writes where the format allows; what changes its
///             structure (adding, removing, appending, resizing, flushing, setting attributes) waits for them.
#ifndef NDFILE_HPP
#define NDFILE_HPP

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>
#if __cplusplus >= 202002L
#include <ranges>
#endif

#include "ndfile.h"

namespace ndfile {

/// One number an axis: a shape, positions, counts or strides. No numbers: a scalar.
using extents = std::vector<std::int64_t>;

// ==== Errors ============================================================================

/// Why a call failed. what() names path and array, what was expected and what was found.
class error : public std::runtime_error {
 public:
  error(std::int32_t code, const std::string &message, int os_error = 0, std::int64_t offset = -1)
      : std::runtime_error(message), code_(code), os_error_(os_error), offset_(offset) {}

  /// NDF_ERR_*, such as NDF_ERR_CORRUPT. Codes never change their meaning.
  std::int32_t code() const noexcept { return code_; }
  /// Name of the code, such as "NDF_ERR_CORRUPT". Static text.
  const char *code_name() const noexcept { return ndf_status_name(code_); }
  /// errno of the operating system, or 0.
  int os_error() const noexcept { return os_error_; }
  /// Byte position in the file, or -1.
  std::int64_t offset() const noexcept { return offset_; }

 private:
  std::int32_t code_;
  int os_error_;
  std::int64_t offset_;
};

// ==== Memory of the caller ==============================================================

/// A view of size elements at data, as std::span, to which it converts in C++20. Owns nothing.
/// Made of a pointer and a size or of anything contiguous. T is const for memory that is only read.
template <class T>
class span {
 public:
  using element_type = T;
  using value_type = std::remove_cv_t<T>;

  constexpr span() noexcept = default;
  constexpr span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
  /// C has std::data() and std::size(); its elements are T, or become so by adding const.
  template <class C, class E = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>,
            class = std::enable_if_t<std::is_convertible_v<E (*)[], T (*)[]>>>
  constexpr span(C &&memory) : data_(std::data(memory)), size_(std::size(memory)) {}

  constexpr T *data() const noexcept { return data_; }
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr bool empty() const noexcept { return size_ == 0; }
  constexpr T *begin() const noexcept { return data_; }
  constexpr T *end() const noexcept { return data_ + size_; }
  /// i is less than size(); it is not checked.
  constexpr T &operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T *data_ = nullptr;
  std::size_t size_ = 0;
};

template <class C>
span(C &&memory) -> span<std::remove_pointer_t<decltype(std::data(memory))>>;

/// A view of elements in memory with gaps or in another order of axes. Owns nothing, and the memory is not checked.
template <class T>
struct strided {
  T *data;         ///< the element at position 0 of all axes, wherever that lies in memory
  extents shape;   ///< elements along each axis
  extents strides; ///< bytes between elements along each axis; may be negative, and 0 for memory that is only read
};

template <class T>
strided(T *, extents, extents) -> strided<T>;

namespace detail {
template <class M, class = void>
struct is_mdspan : std::false_type {};
template <class M>
struct is_mdspan<M, std::void_t<decltype(std::declval<const M &>().data_handle()), decltype(std::declval<const M &>().stride(0)),
                                decltype(M::rank())>> : std::true_type {};

template <class M, class = void>
struct is_matrix : std::false_type {};
template <class M>
struct is_matrix<M, std::void_t<decltype(std::declval<const M &>().rowStride()), decltype(std::declval<const M &>().colStride()),
                                decltype(std::declval<const M &>().rows())>> : std::true_type {};
} // namespace detail

/// An array of another library as memory to read into or write from; it owns nothing. M is std::mdspan, or what has
/// data_handle(), extent(i) and stride(i) as that; a matrix or map of Eigen; or an array or view of xtensor, which has data(),
/// shape() and strides(). None is needed to include this header.
template <class M>
auto view(M &&memory) {
  using plain = std::remove_cv_t<std::remove_reference_t<M>>;
  extents shape, strides;
  const auto add = [&](auto extent, auto stride, std::size_t size) {
    shape.push_back(static_cast<std::int64_t>(extent));
    strides.push_back(static_cast<std::int64_t>(stride) * static_cast<std::int64_t>(size));
  };
  if constexpr (detail::is_mdspan<plain>::value) {
    auto *data = memory.data_handle();
    for (std::size_t i = 0; i < static_cast<std::size_t>(plain::rank()); i++) add(memory.extent(i), memory.stride(i), sizeof *data);
    return strided{data, std::move(shape), std::move(strides)};
  } else if constexpr (detail::is_matrix<plain>::value) {
    auto *data = memory.data();
    add(memory.rows(), memory.rowStride(), sizeof *data);
    add(memory.cols(), memory.colStride(), sizeof *data);
    return strided{data, std::move(shape), std::move(strides)};
  } else {
    auto *data = memory.data();
    if constexpr (!std::is_pointer_v<std::decay_t<decltype(memory.strides())>>) data += memory.data_offset();
    for (std::size_t i = 0; i < memory.shape().size(); i++) add(memory.shape()[i], memory.strides()[i], sizeof *data);
    return strided{data, std::move(shape), std::move(strides)};
  }
}

/// A part of an array: count elements along each axis, from start, every step-th. Without any numbers: the whole array.
struct box {
  extents start = {}; ///< position of the first element
  extents count = {}; ///< number of elements
  extents step = {};  ///< distance between elements, 1 or more; empty: all 1
};

/// The boxes that an array is cut into by a grid, the last ones along an axis smaller where it does not divide the array: what
/// array::each_chunk and each_block give, for loops. In row-major order.
class grid {
 public:
  grid(extents shape, extents piece) : shape_(std::move(shape)), piece_(std::move(piece)) {
    for (std::size_t i = 0; i < shape_.size(); i++) {
      piece_[i] = std::max<std::int64_t>(piece_[i], 1);
      size_ *= (shape_[i] + piece_[i] - 1) / piece_[i];
    }
  }

  /// Of boxes.
  std::int64_t size() const noexcept { return size_; }
  /// Box number n, less than size().
  box operator[](std::int64_t n) const {
    box b{extents(shape_.size()), extents(shape_.size())};
    for (std::size_t i = shape_.size(); i-- > 0;) {
      const std::int64_t along = (shape_[i] + piece_[i] - 1) / piece_[i];
      b.start[i] = n % along * piece_[i];
      b.count[i] = std::min(piece_[i], shape_[i] - b.start[i]);
      n /= along;
    }
    return b;
  }

  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = box;
    using difference_type = std::int64_t;
    using pointer = const box *;
    using reference = box;

    iterator() = default;
    iterator(const grid *of, std::int64_t n) : of_(of), n_(n) {}
    box operator*() const { return (*of_)[n_]; }
    iterator &operator++() {
      n_++;
      return *this;
    }
    iterator operator++(int) { return {of_, n_++}; }
    bool operator==(const iterator &other) const { return n_ == other.n_; }
    bool operator!=(const iterator &other) const { return n_ != other.n_; }

   private:
    const grid *of_ = nullptr;
    std::int64_t n_ = 0;
  };
  iterator begin() const { return {this, 0}; }
  iterator end() const { return {this, size_}; }

 private:
  extents shape_, piece_;
  std::int64_t size_ = 1;
};

/// Elements of a box in row-major order, and which of them are missing.
template <class T>
struct masked {
  std::vector<T> values;          ///< zero where they are missing
  std::vector<std::uint8_t> mask; ///< 1 = missing; as many as values
};

// ==== Types of elements =================================================================

/// The dtype of T, in the byte order of the machine, as name() gives it: a NumPy typestring or, for records, a JSON list.
///
/// Known are bool, integers, float, double, long double and std::complex of these. Specialise it for trivially copyable
/// types of your own, which then go wherever T goes; elements of that dtype have to have sizeof(T) bytes:
/// \code
///   struct foo { char info[12]; std::uint32_t index; double v[8]; };
///   template <> struct ndfile::dtype_of<foo> : ndfile::raw_dtype<foo> {};    // opaque: "V80"
///
///   struct code { char text[4]; };
///   template <> struct ndfile::dtype_of<code> { static std::string name() { return "S4"; } };
/// \endcode
template <class T, class = void>
struct dtype_of {};

template <>
struct dtype_of<bool> {
  static std::string name() { return "b1"; }
};

template <class T>
struct dtype_of<T, std::enable_if_t<std::is_integral_v<T>>> {
  static std::string name() { return (std::is_signed_v<T> ? "i" : "u") + std::to_string(sizeof(T)); }
};

/// Only these: a size alone does not tell the other floating-point types apart.
template <class T>
struct dtype_of<T, std::enable_if_t<std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, long double>>> {
  static std::string name() { return "f" + std::to_string(sizeof(T)); }
};

template <class T>
struct dtype_of<std::complex<T>, std::enable_if_t<std::is_floating_point_v<T>>> {
  static std::string name() { return "c" + std::to_string(sizeof(std::complex<T>)); }
};

/// The dtype of opaque bytes, those of T: stored and given back as they lie in memory, padding and byte order included.
template <class T>
struct raw_dtype {
  static std::string name() { return "V" + std::to_string(sizeof(T)); }
};

namespace detail {
template <class T, class = void>
struct has_dtype : std::false_type {};
template <class T>
struct has_dtype<T, std::void_t<decltype(dtype_of<std::remove_cv_t<T>>::name())>> : std::true_type {};
} // namespace detail

/// Whether T can be an element: dtype_of knows it, and it is copied byte by byte.
template <class T>
inline constexpr bool is_element = detail::has_dtype<T>::value && std::is_trivially_copyable_v<T>;

/// What stands before the name of a type of elements: in C++20 a concept, so that the message for another type is one line at
/// the call.
#if defined(__cpp_concepts) && __cpp_concepts >= 201907L
template <class T>
concept element = is_element<T>;
#define NDFILE_ELEMENT ::ndfile::element
#else
#define NDFILE_ELEMENT class
#endif

// ==== Calling the library ===============================================================

/// Not for users of the header.
namespace detail {

[[noreturn]] inline void raise(std::int32_t status, const ndf_error &err) {
  throw error(status, err.message, err.os_error, err.offset);
}

/// Calls function(arguments..., &err); an error is thrown.
template <class... P, class... A>
void call(std::int32_t (*function)(P...), A... arguments) {
  ndf_error err;
  const std::int32_t status = function(arguments..., &err);
  if (status != NDF_OK) raise(status, err);
}

/// The text that function(arguments..., buf, &len, &err) gives.
template <class... P, class... A>
std::string text(std::int32_t (*function)(P...), A... arguments) {
  std::string out(240, '\0');
  for (;;) {
    ndf_error err;
    std::int64_t len = static_cast<std::int64_t>(out.size()) + 1; // a std::string has room for the NUL
    const std::int32_t status = function(arguments..., out.data(), &len, &err);
    if (status != NDF_OK && status != NDF_ERR_BUFFER) raise(status, err);
    out.resize(static_cast<std::size_t>(status == NDF_OK ? len : len - 1));
    if (status == NDF_OK) return out;
  }
}

/// A text for the library, where texts end at the first NUL.
inline const char *c_text(const std::string &text, const char *what) {
  if (text.find('\0') != std::string::npos) throw error(NDF_ERR_ARGUMENT, what + (" with a NUL in it: " + text));
  return text.c_str();
}

/// The same, where no text is NULL.
inline const char *c_option(const std::string &text, const char *what) {
  return text.empty() ? nullptr : c_text(text, what);
}

inline std::string json_string(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ')
      out.append("\\u00").append({hex[byte >> 4], hex[byte & 15]});
    else if (c == '"' || c == '\\')
      out.append({'\\', c});
    else
      out += c;
  }
  return out += '"';
}

/// "(2, 3)", as messages show a shape.
inline std::string shape_text(const std::int64_t *shape, std::size_t ndim) {
  std::string out = "(";
  for (std::size_t i = 0; i < ndim; i++) out += (i ? ", " : "") + std::to_string(shape[i]);
  return out += ")";
}

/// Where an error happened, as the library says it; either may be empty.
inline std::string place(const std::string &path, std::string_view array) {
  return (path.empty() ? "" : path + ": ") + (array.empty() ? "" : "array " + json_string(array) + ": ");
}

template <class T>
struct is_strided : std::false_type {};
template <class T>
struct is_strided<strided<T>> : std::true_type {};

template <class T>
struct is_optional : std::false_type {};
template <class T>
struct is_optional<std::optional<T>> : std::true_type {};

/// Name of the dtype of T.
template <class T>
std::string dtype_name() {
  static_assert(detail::has_dtype<T>::value, "no dtype is known for this type: specialise ndfile::dtype_of");
  static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
  if constexpr (is_element<T>) return dtype_of<std::remove_cv_t<T>>::name();
  return {};
}

/// Whether two names stand for one dtype of this machine's byte order.
inline bool same_dtype(std::string_view a, std::string_view b) {
  const auto without_order = [](std::string_view dtype) {
    constexpr char native = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    const bool says_so = !dtype.empty() && (dtype[0] == '=' || dtype[0] == '|' || dtype[0] == native);
    return dtype.substr(says_so ? 1 : 0);
  };
  return a == b || without_order(a) == without_order(b);
}

/// The dtype in the byte order of the machine.
inline std::string native(std::string dtype) {
  if (!dtype.empty() && (dtype[0] == '<' || dtype[0] == '>')) dtype[0] = '=';
  return dtype;
}

/// Number of elements of a shape; the largest std::size_t where there is no such number.
inline std::size_t count_of(const std::int64_t *shape, std::size_t ndim) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  if (std::find(shape, shape + ndim, 0) != shape + ndim) return 0;
  std::size_t n = 1;
  for (std::size_t i = 0; i < ndim; i++) {
    if (shape[i] < 0 || n > most / static_cast<std::size_t>(shape[i])) return most;
    n *= static_cast<std::size_t>(shape[i]);
  }
  return n;
}

/// The elements of a range, which need not be contiguous.
template <class R>
using range_value = std::remove_cv_t<std::remove_reference_t<decltype(*std::begin(std::declval<const R &>()))>>;

template <class T>
constexpr bool is_text = std::is_convertible_v<const T &, std::string_view>;
template <class T>
constexpr bool is_text<std::optional<T>> = is_text<T>;

/// Elements that cannot be used where they lie, in the form of the library.
struct packed {
  std::string bytes;                 ///< of all elements
  std::vector<std::int64_t> offsets; ///< of texts: element i is bytes[offsets[i]] to bytes[offsets[i+1]]
  std::vector<std::uint8_t> mask;    ///< of optional texts
};

/// Packs texts, which may be std::optional: then none is missing.
template <class R>
packed pack_texts(const R &texts) {
  packed out;
  out.offsets.push_back(0);
  for (const auto &text : texts) {
    if constexpr (is_optional<range_value<R>>::value) {
      out.mask.push_back(!text);
      if (text) out.bytes += std::string_view(*text);
    } else {
      out.bytes += std::string_view(text);
    }
    out.offsets.push_back(static_cast<std::int64_t>(out.bytes.size()));
  }
  return out;
}

/// A handle of the library, which drop closes.
class handle {
 public:
  using closer = std::int32_t (*)(std::uint64_t, ndf_error *);

  handle() noexcept = default;
  handle(std::uint64_t value, closer drop) noexcept : value_(value), drop_(drop) {}
  handle(handle &&other) noexcept : value_(other.release()), drop_(other.drop_) {}
  handle &operator=(handle &&other) noexcept {
    if (this != &other) {
      reset();
      value_ = other.release();
      drop_ = other.drop_;
    }
    return *this;
  }
  ~handle() { reset(); }

  std::uint64_t value() const noexcept { return value_; }
  std::uint64_t release() noexcept { return std::exchange(value_, 0); }
  /// Closes by close, which tells about errors; does nothing without a handle.
  void end(closer close) {
    if (const std::uint64_t value = release()) call(close, value);
  }

 private:
  void reset() noexcept {
    if (value_ != 0) drop_(release(), nullptr);
  }

  std::uint64_t value_ = 0;
  closer drop_ = nullptr;
};

/// A box in the array as it is now: calls give the library its numbers, so that an array which others resize at the same
/// time is never taken for larger than the memory.
struct selection {
  ndf_array_info info = {};
  std::int32_t ndim = 0;
  const std::int64_t *start, *count, *step = nullptr;
  std::size_t size; ///< elements

  selection(const selection &) = delete;
  selection(std::uint64_t array, const box &b, const std::string &where) {
    static constexpr std::int64_t origin[NDF_MAX_NDIM] = {};
    info.struct_size = sizeof info;
    call(ndf_array_get_info, array, &info);
    ndim = info.ndim;
    const auto axes = static_cast<std::size_t>(ndim);
    if (b.start.empty() && b.count.empty() && b.step.empty()) {
      start = origin;
      count = info.shape;
    } else {
      if (b.start.size() != axes || b.count.size() != axes || (b.step.size() != axes && !b.step.empty()))
        throw error(NDF_ERR_SHAPE, where + "box with " + std::to_string(b.start.size()) + " starts, " +
                                       std::to_string(b.count.size()) + " counts and " + std::to_string(b.step.size()) +
                                       " steps, expected " + std::to_string(axes) + " of each");
      start = b.start.data();
      count = b.count.data();
      if (!b.step.empty()) step = b.step.data();
    }
    // The library checks the box; here it is enough that nothing is allocated for one that cannot be.
    for (std::size_t i = 0; i < axes; i++) {
      if (count[i] < 0 || count[i] > info.shape[i])
        throw error(NDF_ERR_BOUNDS, where + "box of " + shape_text(count, axes) + " elements in an array of shape " +
                                        shape_text(info.shape, axes));
    }
    size = count_of(count, axes);
  }

  /// The memory has the elements of the box.
  void check_size(const std::string &where, const char *what, std::size_t found) const {
    if (found != size)
      throw error(NDF_ERR_SHAPE, where + what + " of " + std::to_string(found) + " elements, expected " +
                                     std::to_string(size) + " for a box of " +
                                     shape_text(count, static_cast<std::size_t>(ndim)));
  }

  template <class T>
  void check_strided(const std::string &where, const strided<T> &view) const {
    const auto axes = static_cast<std::size_t>(ndim);
    if (view.shape != extents(count, count + axes) || view.strides.size() != axes)
      throw error(NDF_ERR_SHAPE, where + "memory of shape " + shape_text(view.shape.data(), view.shape.size()) + " with " +
                                     std::to_string(view.strides.size()) + " strides, expected the shape of the box, " +
                                     shape_text(count, axes));
  }

  /// The dtype to read T by. A byte that is neither 0 nor 1 is no bool in C++: widened to an integer it is 0 or 1.
  template <class T>
  std::string memory_dtype() const {
    const bool is_bool = std::is_same_v<T, bool> && std::strcmp(info.dtype, "|b1") == 0;
    return is_bool ? dtype_name<std::uint8_t>() : dtype_name<T>();
  }
};

/// The bytes that function(arguments..., buf, &len, &err) gives.
template <class... P, class... A>
std::string bytes(std::int32_t (*function)(P...), A... arguments) {
  for (std::string out(240, '\0');;) {
    ndf_error err;
    std::int64_t len = static_cast<std::int64_t>(out.size());
    const std::int32_t status = function(arguments..., out.data(), &len, &err);
    if (status != NDF_OK && status != NDF_ERR_BUFFER) raise(status, err);
    out.resize(static_cast<std::size_t>(len));
    if (status == NDF_OK) return out;
  }
}

/// A JSON list of strings.
inline std::string json_list(const std::vector<std::string> &texts) {
  std::string out = "[";
  for (const std::string &text : texts) out += (out.size() > 1 ? ", " : "") + json_string(text);
  return out += "]";
}

/// For what is no strided, which an item takes in another way.
template <class C>
using not_strided = std::enable_if_t<!is_strided<std::remove_cv_t<std::remove_reference_t<C>>>::value>;

/// The memory itself where it has a name, else a copy in kept into which it is moved.
template <class C>
const auto &keep(C &&memory, std::shared_ptr<const void> &kept) {
  if constexpr (std::is_lvalue_reference_v<C>) {
    return memory;
  } else {
    static_assert(!std::is_array_v<C>, "a temporary array: give it a name, or take a std::array");
    auto own = std::make_shared<const std::remove_cv_t<C>>(std::forward<C>(memory));
    const auto &out = *own;
    kept = std::move(own);
    return out;
  }
}

/// Axes names and attributes, which a new array gets. Self is the class that inherits.
template <class Self>
class described {
 public:
  /// Names of the axes, UTF-8.
  Self &dims(const std::vector<std::string> &names) {
    dims_ = json_list(names);
    return self();
  }
  /// Attributes as a JSON object; NaN, Infinity and -Infinity are allowed.
  Self &attrs(std::string json) {
    attrs_ = std::move(json);
    return self();
  }
  /// The format's own metadata, as array::extra_json gives it.
  Self &extra(std::string json) {
    extra_ = std::move(json);
    return self();
  }

 protected:
  template <class Struct>
  void describe(Struct &out) const {
    out.dims_json = c_option(dims_, "dims");
    out.attrs_json = c_option(attrs_, "attrs");
    out.extra_json = c_option(extra_, "extra");
  }

 private:
  Self &self() { return static_cast<Self &>(*this); }

  std::string dims_, attrs_, extra_;
};

} // namespace detail

// ==== The library =======================================================================

/// Version of the library that is loaded, "MAJOR.MINOR.PATCH"; NDF_VERSION is that of the header.
inline std::string version() { return ndf_version(); }

/// A format of the library.
struct format_info {
  std::string name;       ///< as options take it, such as "ds"
  std::string extensions; ///< file name endings separated by blanks, the usual one first
  std::uint32_t caps;     ///< NDF_CAP_* bits
};

/// The formats of the library.
inline std::vector<format_info> formats() {
  std::int32_t n = 0;
  detail::call(ndf_format_count, &n);
  std::vector<format_info> out;
  for (std::int32_t i = 0; i < n; i++) {
    ndf_format_info info = {};
    info.struct_size = sizeof info;
    detail::call(ndf_format_get_info, i, &info);
    out.push_back({info.name, info.extensions, info.caps});
  }
  return out;
}

/// Name of the format of a file or folder, by content. Throws NDF_ERR_FORMAT when no format recognises it.
inline std::string detect(const std::string &path) { return detail::text(ndf_detect, detail::c_text(path, "path")); }

// ==== Arrays ============================================================================

/// Elements that stay in the file and are mapped into memory. Made by array::map; valid until it is closed or destroyed,
/// also after the array and the file are closed. Reading them after another program has made the file shorter ends the
/// process.
template <class T>
class mapped {
 public:
  /// Owns nothing, as one that was closed.
  mapped() noexcept = default;
  mapped(mapped &&other) noexcept
      : handle_(std::move(other.handle_)), values_(std::exchange(other.values_, {})), shape_(std::exchange(other.shape_, {})) {}
  mapped &operator=(mapped &&other) noexcept {
    handle_ = std::move(other.handle_);
    values_ = std::exchange(other.values_, {});
    shape_ = std::exchange(other.shape_, {});
    return *this;
  }

  /// Gives the memory back.
  void close() {
    values_ = {};
    handle_.end(ndf_map_close);
  }
  /// The elements, row-major.
  span<const T> values() const noexcept { return values_; }
  const T *data() const noexcept { return values_.data(); }
  std::size_t size() const noexcept { return values_.size(); }
  const T *begin() const noexcept { return values_.data(); }
  const T *end() const noexcept { return values_.data() + values_.size(); }
  const T &operator[](std::size_t i) const noexcept { return values_.data()[i]; }
  /// Elements along each axis.
  const extents &shape() const noexcept { return shape_; }

 private:
  friend class array;
  detail::handle handle_;
  span<const T> values_;
  extents shape_;
};

/// How the chunks of an array are compressed.
struct compression {
  std::string codec = "blosclz";               ///< blosclz, lz4, lz4hc, snappy, zlib or zstd
  std::int32_t level = 5;                      ///< 0 (copy only) to 9
  std::uint32_t shuffle = NDF_BLOSC_SHUFFLE;   ///< NDF_BLOSC_*
};

/// One number that array::reduce has found.
struct scalar {
  std::string dtype;      ///< name of its dtype, in the byte order of the machine
  std::uint8_t bytes[16]; ///< its bytes from the first on

  /// The number as a T. NDF_ERR_DTYPE when that is not its type (nothing is converted).
  template <NDFILE_ELEMENT T>
  T as() const {
    if (!detail::same_dtype(detail::dtype_name<T>(), dtype))
      throw error(NDF_ERR_DTYPE, "a number of " + dtype + " where " + detail::dtype_name<T>() + " is expected");
    T out;
    static_assert(sizeof(T) <= sizeof bytes, "no number is so long");
    std::memcpy(&out, bytes, sizeof out);
    return out;
  }
};

/// What array::reduce has found; std::nullopt is what was not asked for.
struct summary {
  std::int64_t count;                       ///< elements that are not missing
  std::optional<scalar> sum, min, max, mean;
};

/// An array of a file. Made by file::array, file::array_at and file::add.
class array {
 public:
  /// Owns nothing, as one that was closed.
  array() noexcept = default;

  /// Closes the handle. What was written becomes part of the file when the file is closed.
  void close() { handle_.end(ndf_array_close); }
  /// Whether it owns a handle.
  explicit operator bool() const noexcept { return handle() != 0; }
  /// The handle, for the functions of ndfile.h; it stays this object's. 0: none.
  ndf_array handle() const noexcept { return handle_.value(); }

  /// Elements along each axis.
  extents shape() const {
    const ndf_array_info i = info();
    return extents(i.shape, i.shape + i.ndim);
  }
  /// Number of elements.
  std::int64_t size() const { return info().count; }
  /// Bytes of an element; 0 for texts, which have a length of their own each.
  std::int64_t itemsize() const { return info().itemsize; }
  /// Name of the stored dtype: a NumPy typestring, "bfloat16", "bytes", "str", or a record as a JSON list.
  std::string dtype() const { return detail::text(ndf_array_get_dtype, handle()); }
  /// NDF_ARRAY_* bits.
  std::uint32_t flags() const { return info().flags; }
  /// Whether elements can be missing.
  bool is_masked() const { return flags() & NDF_ARRAY_MASKED; }
  /// Whether elements are texts ("bytes" or "str"), to be read by read_strings.
  bool is_strings() const { return flags() & NDF_ARRAY_STRINGS; }
  /// Whether there are elements; otherwise only metadata, and reading is NDF_ERR_NO_DATA.
  bool has_data() const { return !(flags() & NDF_ARRAY_NO_DATA); }

  /// Elements of a chunk along each axis; empty for arrays that are not stored in chunks.
  extents chunks() const {
    const ndf_array_info i = info();
    return i.flags & NDF_ARRAY_CHUNKED ? extents(i.chunks, i.chunks + i.ndim) : extents();
  }
  /// The boxes of the chunks, each of which is decoded once when it is read; the whole array where there are none.
  grid each_chunk() const {
    const extents c = chunks();
    return {shape(), c.empty() ? shape() : c};
  }
  /// The boxes of blocks of consecutive rows, along the first axis; an array without axes is one.
  grid each_block(std::int64_t rows) const {
    extents piece = shape();
    if (!piece.empty()) piece[0] = rows;
    return {shape(), std::move(piece)};
  }
  /// How new chunks are compressed; std::nullopt: they are not.
  std::optional<ndfile::compression> compression() const {
    const ndf_array_info i = info();
    if (i.codec[0] == 0) return std::nullopt;
    return ndfile::compression{i.codec, i.level, i.shuffle};
  }
  /// The value of elements that were never written; std::nullopt: the array has none, they read as zero. NDF_ERR_DTYPE
  /// when T is not the stored type.
  template <NDFILE_ELEMENT T>
  std::optional<T> fill() const {
    const std::string stored = dtype(), value = detail::bytes(ndf_array_get_fill, handle());
    if (value.empty()) return std::nullopt;
    if (!detail::same_dtype(detail::dtype_name<T>(), detail::native(stored)) || value.size() != sizeof(T))
      throw error(NDF_ERR_DTYPE, where_ + "elements of " + stored + " where " + detail::dtype_name<T>() + " are expected");
    if constexpr (std::is_same_v<T, bool>) { // other bytes than 0 and 1 are no bools in C++
      return value[0] != 0;
    } else {
      T out;
      std::memcpy(&out, value.data(), sizeof out);
      return out;
    }
  }

  /// Names of the axes as a JSON list, or "null".
  std::string dims_json() const { return detail::text(ndf_array_get_dims, handle()); }
  /// Attributes as a JSON object.
  std::string attrs_json() const { return detail::text(ndf_array_get_attrs, handle()); }
  /// What the format stores beyond that, as a JSON object in its own terms.
  std::string extra_json() const { return detail::text(ndf_array_get_extra, handle()); }
  /// Replaces all attributes; they are written when the file is closed.
  void set_attrs_json(const std::string &json) {
    detail::call(ndf_array_set_attrs, handle(), detail::c_text(json, "attributes"));
  }

  /// Reads a box, row-major.
  ///
  /// T is the stored type or one that holds all its values (int to double, float to std::complex<double>); anything else
  /// is NDF_ERR_DTYPE. NDF_ERR_MASKED when an element is missing: then use read_masked. NDF_ERR_BOUNDS for a box that
  /// reaches outside.
  template <NDFILE_ELEMENT T>
  std::vector<T> read(const box &b = {}) const {
    const detail::selection s(handle(), b, where_);
    return collect<T>(s, nullptr);
  }

  /// Reads a box into elements of a type that need not hold every value of the stored one, but has to hold those that are
  /// there: doubles into float (rounded), int into short, whole doubles into int. NDF_ERR_VALUE names the first element that
  /// does not fit, by its index from 0.
  template <NDFILE_ELEMENT T>
  std::vector<T> read_narrow(const box &b = {}) const {
    const detail::selection s(handle(), b, where_);
    return collect<T>(s, nullptr, ndf_array_read_narrow);
  }

  /// Reads a box of which elements may be missing. As read otherwise.
  template <NDFILE_ELEMENT T>
  masked<T> read_masked(const box &b = {}) const {
    const detail::selection s(handle(), b, where_);
    masked<T> out;
    out.mask.resize(s.size);
    out.values = collect<T>(s, out.mask.data());
    return out;
  }

  /// Maps the whole array into memory: nothing is read until it is touched, nothing is copied or converted. Throws
  /// NDF_ERR_DTYPE when T is not the stored type, and NDF_ERR_NOT_SUPPORTED, with the reason, for elements that do not
  /// lie in the file as they do in memory (masked, texts, the other byte order, not aligned).
  template <NDFILE_ELEMENT T>
  mapped<T> map() const {
    const void *data = nullptr;
    std::int64_t len = 0;
    ndf_map map = 0;
    detail::call(ndf_array_map, handle(), &data, &len, &map);
    mapped<T> out;
    out.handle_ = detail::handle(map, ndf_map_close);
    if (!detail::same_dtype(detail::dtype_name<T>(), dtype()) || len != size() * static_cast<std::int64_t>(sizeof(T)))
      throw error(NDF_ERR_DTYPE, where_ + "elements of " + dtype() + " where " + detail::dtype_name<T>() + " are expected");
    out.values_ = {static_cast<const T *>(data), static_cast<std::size_t>(len) / sizeof(T)};
    out.shape_ = shape();
    return out;
  }

  /// Reads a box into memory: anything contiguous, row-major and of exactly the elements of the box, or strided of its
  /// shape. Nothing is allocated for contiguous memory. A mask, one byte an element in row-major order, receives 1 where
  /// elements are missing; without one they are NDF_ERR_MASKED. After an error the content of both is undefined.
  template <class C>
  void read_into(C &&memory, const box &b = {}, span<std::uint8_t> mask = {}) const {
    const detail::selection s(handle(), b, where_);
    if (!mask.empty()) s.check_size(where_, "mask", mask.size());
    if constexpr (detail::is_strided<std::decay_t<C>>::value) {
      s.check_strided(where_, memory);
      read_memory(s, memory.data, memory.strides.data(), mask.data());
    } else {
      const span view(memory);
      s.check_size(where_, "memory", view.size());
      read_memory(s, view.data(), nullptr, mask.data());
    }
  }

  /// Reads a box of texts ("str": UTF-8, "bytes": any bytes), row-major; missing ones are std::nullopt.
  std::vector<std::optional<std::string>> read_strings(const box &b = {}) const {
    const detail::selection s(handle(), b, where_);
    std::vector<std::int64_t> offsets(s.size + 1);
    std::vector<std::uint8_t> mask(s.size);
    std::string bytes;
    for (;;) {
      ndf_error err;
      std::int64_t need = static_cast<std::int64_t>(bytes.size());
      const std::int32_t status = ndf_array_read_strings(handle(), s.ndim, s.start, s.count, s.step, offsets.data(),
                                                         bytes.data(), &need, mask.data(), &err);
      if (status == NDF_OK) break;
      if (status != NDF_ERR_BUFFER) detail::raise(status, err);
      bytes.resize(static_cast<std::size_t>(need));
    }
    std::vector<std::optional<std::string>> out(s.size);
    for (std::size_t i = 0; i < s.size; i++)
      if (!mask[i]) out[i].emplace(bytes, offsets[i], offsets[i + 1] - offsets[i]);
    return out;
  }

  /// Writes a box from memory: anything contiguous, row-major and of exactly the elements of the box, or strided of its
  /// shape. T is the stored type or one whose values it all holds. Where the mask, one byte an element in row-major
  /// order, is 1, the element is missing and not stored; no mask: nothing is missing. Formats with NDF_CAP_WRITE_ONCE
  /// want the whole array, or blocks of rows in order (otherwise NDF_ERR_ORDER).
  template <class C>
  void write(const C &memory, const box &b = {}, span<const std::uint8_t> mask = {}) {
    const detail::selection s(handle(), b, where_);
    if (!mask.empty()) s.check_size(where_, "mask", mask.size());
    if constexpr (detail::is_strided<C>::value) {
      s.check_strided(where_, memory);
      write_memory(s, memory.data, memory.strides.data(), mask.data());
    } else if constexpr (std::is_same_v<C, std::vector<bool>>) {
      s.check_size(where_, "memory", memory.size());
      const std::unique_ptr<bool[]> values(new bool[memory.size()]);
      std::copy(memory.begin(), memory.end(), values.get());
      write_memory(s, values.get(), nullptr, mask.data());
    } else {
      const span view(memory);
      s.check_size(where_, "memory", view.size());
      write_memory(s, view.data(), nullptr, mask.data());
    }
  }

  /// Sets the shape. What comes into being has the fill value, what falls outside is gone for good. NDF_ERR_NOT_SUPPORTED
  /// for formats without NDF_CAP_RESIZE, and for columns of a table.
  void resize(const extents &shape) {
    detail::call(ndf_array_resize, handle(), static_cast<std::int32_t>(shape.size()), shape.data());
  }

  /// Grows the array along an axis and stores elements behind those that were there: anything contiguous, row-major, that
  /// fits the other axes, or strided. They can stay in memory until the file is flushed or closed.
  template <class C>
  void append(const C &memory, std::int32_t axis = 0) {
    if constexpr (detail::is_strided<C>::value) {
      append_memory(axis, memory.shape, memory.data, memory.strides.data());
    } else {
      const span view(memory);
      extents count = shape();
      if (axis < 0 || static_cast<std::size_t>(axis) >= count.size())
        throw error(NDF_ERR_BOUNDS, where_ + "axis " + std::to_string(axis) + " of " + std::to_string(count.size()));
      std::int64_t &rows = count[static_cast<std::size_t>(axis)];
      rows = 1;
      const std::size_t row = detail::count_of(count.data(), count.size());
      rows = row == 0 ? 0 : static_cast<std::int64_t>(view.size() / row);
      if (row == 0 ? view.size() != 0 : view.size() % row != 0)
        throw error(NDF_ERR_SHAPE, where_ + std::to_string(view.size()) + " elements to append, expected a multiple of " +
                                       std::to_string(row));
      append_memory(axis, count, view.data(), nullptr);
    }
  }

  /// Reads rows by their numbers, in the order given; T as for read.
  template <NDFILE_ELEMENT T>
  std::vector<T> take(span<const std::int64_t> rows) const {
    static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> has no bools in memory: take std::uint8_t");
    extents count = shape();
    if (count.empty()) throw error(NDF_ERR_SHAPE, where_ + "an array without axes has no rows");
    for (const std::int64_t row : rows) // nothing is allocated for rows that cannot be
      if (row < 0 || row >= count[0])
        throw error(NDF_ERR_BOUNDS, where_ + "row " + std::to_string(row) + " of " + std::to_string(count[0]));
    count[0] = static_cast<std::int64_t>(rows.size());
    std::vector<T> values(detail::count_of(count.data(), count.size()));
    detail::call(ndf_array_take, handle(), rows.data(), count[0], detail::dtype_name<T>().c_str(), values.data(), nullptr,
                 nullptr);
    return values;
  }

  /// Computes what the NDF_REDUCE_* bits say, of the elements of a box that are not missing.
  summary reduce(std::uint32_t what, const box &b = {}) const {
    const detail::selection s(handle(), b, where_);
    ndf_summary out = {};
    out.struct_size = sizeof out;
    detail::call(ndf_array_reduce, handle(), s.ndim, s.start, s.count, s.step, what, &out);
    const auto number = [&](std::uint32_t bit, const ndf_scalar &from) {
      std::optional<scalar> to;
      if (out.have & bit) {
        to.emplace().dtype = from.dtype;
        std::memcpy(to->bytes, from.bytes, sizeof from.bytes);
      }
      return to;
    };
    return {out.count, number(NDF_REDUCE_SUM, out.sum), number(NDF_REDUCE_MIN, out.min), number(NDF_REDUCE_MAX, out.max),
            number(NDF_REDUCE_MEAN, out.mean)};
  }

  /// The stored bytes of the chunk of that number along each axis, compressed as they are; std::nullopt for one that was
  /// never written.
  std::optional<std::string> read_chunk(const extents &index) const {
    for (std::string out(4000, '\0');;) {
      ndf_error err;
      std::int64_t need = static_cast<std::int64_t>(out.size());
      const std::int32_t status = ndf_array_read_chunk(handle(), static_cast<std::int32_t>(index.size()), index.data(),
                                                       out.data(), &need, nullptr, &err);
      if (status != NDF_OK && status != NDF_ERR_BUFFER) detail::raise(status, err);
      if (status == NDF_OK && need == 0) return std::nullopt;
      out.resize(static_cast<std::size_t>(need));
      if (status == NDF_OK) return out;
    }
  }
  /// Stores the bytes of a whole chunk as they are: those of an array of equal dtype, chunks and chunk_encoding.
  void write_chunk(const extents &index, std::string_view bytes) {
    detail::call(ndf_array_write_chunk, handle(), static_cast<std::int32_t>(index.size()), index.data(), bytes.data(),
                 static_cast<std::int64_t>(bytes.size()));
  }
  /// Names how the stored bytes of a chunk are made, such as "blosc1". NDF_ERR_NOT_SUPPORTED where there are no chunks.
  std::string chunk_encoding() const { return detail::text(ndf_array_get_chunk_encoding, handle()); }

  /// Writes a box of texts: any range of std::string, std::string_view or const char *, or of std::optional of these,
  /// where none is a missing element. "str" wants UTF-8 (otherwise NDF_ERR_VALUE). Order as for write.
  template <class R>
  void write_strings(const R &texts, const box &b = {}) {
    const detail::selection s(handle(), b, where_);
    const detail::packed p = detail::pack_texts(texts);
    s.check_size(where_, "texts", p.offsets.size() - 1);
    detail::call(ndf_array_write_strings, handle(), s.ndim, s.start, s.count, s.step, p.offsets.data(), p.bytes.data(),
                 p.mask.empty() ? nullptr : p.mask.data());
  }

 private:
  friend class file;

  explicit array(std::string where) : where_(std::move(where)) {}

  ndf_array_info info() const {
    ndf_array_info out = {};
    out.struct_size = sizeof out;
    detail::call(ndf_array_get_info, handle(), &out);
    return out;
  }

  template <class T>
  void read_memory(const detail::selection &s, T *data, const std::int64_t *strides, std::uint8_t *mask,
                   decltype(&ndf_array_read) read = ndf_array_read) const {
    static_assert(!std::is_const_v<T>, "the memory to read into is const");
    detail::call(read, handle(), s.ndim, s.start, s.count, s.step, s.memory_dtype<T>().c_str(), data, strides, mask);
  }

  template <class T>
  void write_memory(const detail::selection &s, const T *data, const std::int64_t *strides, const std::uint8_t *mask) {
    detail::call(ndf_array_write, handle(), s.ndim, s.start, s.count, s.step, detail::dtype_name<T>().c_str(), data,
                 strides, mask);
  }

  template <class T>
  void append_memory(std::int32_t axis, const extents &count, const T *data, const std::int64_t *strides) {
    detail::call(ndf_array_append, handle(), axis, static_cast<std::int32_t>(count.size()), count.data(),
                 detail::dtype_name<T>().c_str(), data, strides);
  }

  template <class T>
  std::vector<T> collect(const detail::selection &s, std::uint8_t *mask, decltype(&ndf_array_read) read = ndf_array_read) const {
    if constexpr (std::is_same_v<T, bool>) { // a std::vector<bool> has no bools in memory
      const std::unique_ptr<bool[]> values(new bool[s.size]);
      read_memory(s, values.get(), nullptr, mask, read);
      return std::vector<bool>(values.get(), values.get() + s.size);
    } else {
      std::vector<T> values(s.size);
      read_memory(s, values.data(), nullptr, mask, read);
      return values;
    }
  }

  detail::handle handle_;
  std::string where_; // begins the messages of errors that are found on this side
};

// ==== Files =============================================================================

/// Options of file::open.
struct open_options {
  bool update = false;         ///< for reading and changing (r+); NDF_ERR_NOT_SUPPORTED where the format has no changes
  std::string format = {};     ///< name of the format; empty: found by content
  std::int64_t max_header = 0; ///< longest metadata text in bytes; 0: 64 MiB
  bool follow_symlinks = false; ///< what is inside a store may be symbolic links, which lead anywhere
  bool shared = false;         ///< with update: writers of regions share the store; changes of structure are refused
  std::int64_t timeout_ms = 0; ///< with update: how long to wait for other writers before NDF_ERR_BUSY; 0: 5000, -1: not
  bool sync = false;           ///< with update: what is written is synced to the disk, data before metadata
  bool require_lock = false;   ///< with update: NDF_ERR_NOT_SUPPORTED where the file system has no locks
  bool default_fill = false;   ///< of NetCDF: the value of what was never written is missing; see ndf_open_options
};

/// Options of file::create and save.
struct write_options {
  std::string format = {}; ///< name of the format; empty: by the extension of the path
  std::string attrs = {};  ///< attributes of the file as a JSON object; empty: none
  bool direct = false;     ///< written in place, for speed: a crash can leave a torn file. Default: the old file or the new
  bool sync = false;       ///< fsync file and folder before success is reported
  bool exclusive = false;  ///< the path must not exist yet, otherwise NDF_ERR_EXISTS
  std::string trailing = {}; ///< bytes to follow the data, in formats with NDF_CAP_TRAILING
  std::int64_t timeout_ms = 0; ///< how long to wait for those who write to a store that is replaced; 0: 5000, -1: not
};

/// What a file holds.
enum class file_kind : std::uint32_t {
  array = NDF_KIND_ARRAY,     ///< one array, whose name is ""
  dataset = NDF_KIND_DATASET, ///< named arrays of any shapes
  table = NDF_KIND_TABLE      ///< named columns of one length
};

namespace detail {
inline ndf_write_options c_options(const write_options &options) {
  ndf_write_options out = {};
  out.struct_size = sizeof out;
  out.commit = options.direct ? NDF_COMMIT_DIRECT : NDF_COMMIT_ATOMIC;
  out.sync = options.sync;
  out.exclusive = options.exclusive;
  out.trailing = options.trailing.empty() ? nullptr : options.trailing.data();
  out.trailing_len = static_cast<std::int64_t>(options.trailing.size());
  out.timeout_ms = options.timeout_ms;
  return out;
}
} // namespace detail

/// Type, shape and metadata of an array that is added to a file:
/// spec::of<float>({2, 3}).masked().dims({"y", "x"}).attrs(R"({"units": "K"})").
class spec : public detail::described<spec> {
 public:
  /// dtype is a name as array::dtype gives it; its byte order is the one stored.
  spec(std::string dtype, extents shape) : dtype_(std::move(dtype)), shape_(std::move(shape)) {}
  /// The dtype of T, in the byte order of the machine.
  template <NDFILE_ELEMENT T>
  static spec of(extents shape) {
    return spec(detail::dtype_name<T>(), std::move(shape));
  }
  /// Elements may turn out to be missing.
  spec &masked(bool masked = true) {
    masked_ = masked;
    return *this;
  }
  /// Elements of a chunk along each axis, in formats with NDF_CAP_CHUNKED. Otherwise the format chooses.
  spec &chunks(extents chunks) {
    chunks_ = std::move(chunks);
    return *this;
  }
  /// How chunks are compressed. Otherwise the format chooses.
  spec &compress(compression how) {
    compression_ = std::move(how);
    return *this;
  }
  /// The value of elements that are never written, of the type of the elements. Otherwise zero.
  template <NDFILE_ELEMENT T>
  spec &fill(const T &value) {
    static_assert(std::is_trivially_copyable_v<T>, "elements are copied byte by byte");
    fill_type_ = detail::dtype_name<T>();
    fill_.assign(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  /// A hint for choosing chunks: how many rows there will be.
  spec &expected_rows(std::int64_t rows) {
    expected_rows_ = rows;
    return *this;
  }

 private:
  friend class file;

  std::string dtype_;
  extents shape_, chunks_;
  bool masked_ = false;
  std::optional<compression> compression_;
  std::string fill_, fill_type_;
  std::int64_t expected_rows_ = 0;
};

/// One condition of file::where: a column compared with a constant.
struct term {
  std::string column; ///< its name
  std::uint32_t op;   ///< NDF_OP_*
  std::string value;  ///< the constant as JSON: "1.5", "\"Oslo\"", "true", "NaN"
};

/// Which rows file::where looks at, and how many it gives.
struct where_options {
  std::int64_t start = 0; ///< the first row to look at
  std::int64_t stop = 0;  ///< the row to stop before; 0: all rows
  std::int64_t skip = 0;  ///< matching rows to leave out first
  std::int64_t limit = 0; ///< at most so many rows; 0: all
};

/// A table as a stream of Arrow record batches; made by file::arrow. Released by its destructor, unless it was given
/// away. It keeps the file open for reading.
class arrow_stream {
 public:
  /// Owns nothing.
  arrow_stream() noexcept { stream_.release = nullptr; }
  arrow_stream(arrow_stream &&other) noexcept : stream_(other.release()) {}
  arrow_stream &operator=(arrow_stream &&other) noexcept {
    if (this != &other) {
      reset();
      stream_ = other.release();
    }
    return *this;
  }
  ~arrow_stream() { reset(); }

  /// The stream for a consumer that moves it away, as importers of Arrow do: it sets its release to nullptr.
  ArrowArrayStream *get() noexcept { return &stream_; }
  /// Gives the stream away: the caller calls its release.
  ArrowArrayStream release() noexcept {
    const ArrowArrayStream out = stream_;
    stream_.release = nullptr;
    return out;
  }

 private:
  void reset() noexcept {
    if (stream_.release != nullptr) stream_.release(&stream_);
  }

  ArrowArrayStream stream_;
};

class item;

/// An open file or folder.
///
/// Only close() makes a file that is being created appear. The destructor discards it and says so nowhere, since it cannot
/// tell whether an exception left it half written: call close() where all is written. A file that was opened it closes;
/// what one opened for changes still had in memory is written then, and an error of that is lost, which close() throws.
class file {
 public:
  /// Owns nothing, as one that was closed.
  file() noexcept = default;

  /// Opens an existing file or folder; the format is found by content. Metadata is read and checked, elements are not.
  /// Throws NDF_ERR_NOT_FOUND, NDF_ERR_FORMAT, NDF_ERR_CORRUPT and others.
  [[nodiscard]] static file open(const std::string &path, const open_options &options = {}) {
    ndf_open_options c = {};
    c.struct_size = sizeof c;
    c.mode = options.update ? NDF_MODE_UPDATE : NDF_MODE_READ;
    c.format = detail::c_option(options.format, "format");
    c.max_header = options.max_header;
    c.follow_symlinks = options.follow_symlinks;
    c.shared = options.shared;
    c.timeout_ms = options.timeout_ms;
    c.sync = options.sync;
    c.require_lock = options.require_lock;
    c.default_fill = options.default_fill;
    file out(path);
    ndf_file handle = 0;
    detail::call(ndf_file_open, detail::c_text(path, "path"), &c, &handle);
    out.handle_ = detail::handle(handle, ndf_file_close);
    return out;
  }

  /// Starts a new file, in the format of the extension or of the options. It appears at path when close() has succeeded;
  /// before, an older file there is untouched.
  [[nodiscard]] static file create(const std::string &path, const write_options &options = {}) {
    const ndf_write_options c = detail::c_options(options);
    file out(path);
    ndf_file handle = 0;
    detail::call(ndf_file_create, detail::c_text(path, "path"), detail::c_option(options.format, "format"),
                 detail::c_option(options.attrs, "attributes"), &c, &handle);
    out.handle_ = detail::handle(handle, ndf_file_abort);
    return out;
  }

  /// Closes the file; one that was created or changed is committed. Nothing is left of a new file when that fails, as
  /// with NDF_ERR_ORDER for an array that was not written completely. Arrays of a file that was opened can still be read.
  void close() { handle_.end(ndf_file_close); }
  /// Closes without committing: nothing is left of a file that was being created.
  void abort() { handle_.end(ndf_file_abort); }
  /// Whether it owns a handle.
  explicit operator bool() const noexcept { return handle() != 0; }
  /// The handle, for the functions of ndfile.h; it stays this object's. 0: none.
  ndf_file handle() const noexcept { return handle_.value(); }

  /// The path as it was given.
  const std::string &path() const noexcept { return path_; }
  /// Name of the format, such as "ds".
  std::string format() const { return info().format; }
  /// What the file holds.
  file_kind kind() const { return static_cast<file_kind>(info().kind); }
  /// NDF_CAP_* bits of the format.
  std::uint32_t caps() const { return info().caps; }
  /// Number of arrays.
  std::int64_t size() const { return info().narrays; }
  /// Name of the array at a position in file order, from 0 up to size(); UTF-8. NDF_ERR_BOUNDS outside.
  std::string name(std::int64_t index) const { return detail::text(ndf_file_get_name, handle(), index); }
  /// Names of all arrays in file order.
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (std::int64_t i = 0, n = size(); i < n; i++) out.push_back(name(i));
    return out;
  }

  /// Number of rows of a table; -1 for other files.
  std::int64_t nrows() const { return info().nrows; }

  /// Makes what was changed visible to others, as close() would, and leaves the file open. NDF_ERR_NOT_SUPPORTED where the
  /// format writes only when the file is closed. With sync all that was changed since the file was opened is on the disk
  /// afterwards, also in a file opened without it; a file being created refuses that.
  void flush(bool sync = false) { detail::call(ndf_file_flush, handle(), sync ? 1u : 0u); }
  /// Removes an array and its data, or a group and all that is in it, at once. Their array objects refuse to work.
  void remove(const std::string &name) { detail::call(ndf_file_remove, handle(), detail::c_text(name, "name")); }

  /// Appends rows to all columns of a table at once: one item a column, in any order. NDF_ERR_NAME for a column that is
  /// missing or unknown, NDF_ERR_SHAPE for different numbers of rows; then nothing is appended.
  void append_rows(const std::vector<item> &rows);
  /// Cuts all columns to so many rows, or grows them with fill values.
  void resize_rows(std::int64_t nrows) { detail::call(ndf_table_resize, handle(), nrows); }

  /// The rows of a table for which all terms hold, rising.
  std::vector<std::int64_t> where(const std::vector<term> &terms, const where_options &options = {}) const {
    return rows_where(terms, nullptr, options);
  }
  /// The rows of a table for which a condition holds, such as "(close > 1) & (sym in ('A', 'B'))"; see ndf_table_where.
  std::vector<std::int64_t> matching(const std::string &condition, const where_options &options = {}) const {
    return rows_where({}, detail::c_text(condition, "condition"), options);
  }
  /// The table, or some columns of it, as a stream of Arrow record batches of so many rows (0: as the library chooses). The
  /// types are as ndf_table_arrow says.
  arrow_stream arrow(const std::optional<std::vector<std::string>> &columns = std::nullopt, std::int64_t batch_rows = 0) const {
    const std::string json = columns ? detail::json_list(*columns) : std::string();
    arrow_stream out;
    detail::call(ndf_table_arrow, handle(), columns ? json.c_str() : nullptr, batch_rows, out.get());
    return out;
  }

  /// Attributes of the file as a JSON object.
  std::string attrs_json() const { return detail::text(ndf_file_get_attrs, handle()); }
  /// The paths of all groups below the root, sorted; none where the format has no groups.
  std::vector<std::string> groups() const {
    std::vector<std::string> out;
    for (std::int64_t i = 0, n = info().ngroups; i < n; i++) out.push_back(detail::text(ndf_file_get_group_name, handle(), i));
    return out;
  }
  /// Attributes of a group as a JSON object; "" is the file itself. Throws NDF_ERR_NAME when there is none.
  std::string group_attrs_json(const std::string &name) const {
    return detail::text(ndf_group_get_attrs, handle(), detail::c_text(name, "name"));
  }
  /// Replaces all attributes of a group; they are written when the file is closed.
  void set_group_attrs_json(const std::string &name, const std::string &json) {
    detail::call(ndf_group_set_attrs, handle(), detail::c_text(name, "name"), detail::c_text(json, "attributes"));
  }
  /// Makes a group, and those above it that are missing. Throws NDF_ERR_NAME_EXISTS, NDF_ERR_NOT_SUPPORTED.
  void add_group(const std::string &name, const std::string &attrs_json = "{}") {
    detail::call(ndf_file_add_group, handle(), detail::c_text(name, "name"), detail::c_text(attrs_json, "attributes"));
  }
  /// Gives an array or a group, with all that is in it, another path, at once. Throws NDF_ERR_NAME, NDF_ERR_NAME_EXISTS.
  void rename(const std::string &from, const std::string &to) {
    detail::call(ndf_file_rename, handle(), detail::c_text(from, "name"), detail::c_text(to, "name"));
  }
  /// Has copies of all metadata written to the root, or removed, when the file is closed.
  void consolidate(bool on = true) { detail::call(ndf_file_consolidate, handle(), on ? 1 : 0); }

  /// The bytes after the data, empty when there are none. Throws NDF_ERR_NOT_SUPPORTED where the format keeps none.
  std::string trailing() const {
    return detail::bytes(ndf_file_get_trailing, handle());
  }
  /// Replaces all attributes of the file; they are written when it is closed.
  void set_attrs_json(const std::string &json) {
    detail::call(ndf_file_set_attrs, handle(), detail::c_text(json, "attributes"));
  }

  /// The array of that name, "" where the file is one array. Throws NDF_ERR_NAME when there is none.
  ndfile::array array(const std::string &name = {}) const {
    if (name.find('\0') != std::string::npos) { // which no text of C can be
      for (std::int64_t i = 0, n = size(); i < n; i++)
        if (this->name(i) == name) return array_at(i);
    }
    return make(detail::place(path_, name), ndf_file_array, detail::c_text(name, "name"));
  }

  /// The array at a position in file order, from 0 up to size(). NDF_ERR_BOUNDS outside.
  ndfile::array array_at(std::int64_t index) const {
    return make(path_ + ": array " + std::to_string(index) + ": ", ndf_file_array_at, index);
  }

  /// Declares a new array in a file that is being created or changed; its elements are then written with array::write or
  /// array::write_strings. Throws NDF_ERR_NAME_EXISTS, NDF_ERR_DTYPE for a dtype that the format does not have, and others.
  ndfile::array add(const std::string &name, const spec &s) {
    ndf_array_spec c = {};
    c.struct_size = sizeof c;
    c.ndim = static_cast<std::int32_t>(s.shape_.size());
    c.flags = s.masked_ ? NDF_ARRAY_MASKED : 0;
    c.dtype = detail::c_text(s.dtype_, "dtype");
    c.shape = s.shape_.data();
    c.expected_rows = s.expected_rows_;
    ndf_blosc_params params = {};
    if (s.compression_) {
      params.struct_size = sizeof params;
      params.codec = detail::c_text(s.compression_->codec, "codec");
      params.level = s.compression_->level;
      params.shuffle = s.compression_->shuffle;
      c.compression = &params;
    }
    if (!s.chunks_.empty()) {
      if (s.chunks_.size() != s.shape_.size())
        throw error(NDF_ERR_SHAPE, detail::place(path_, name) + "chunks of " + std::to_string(s.chunks_.size()) + " axes, expected " +
                                       std::to_string(s.shape_.size()));
      c.chunks = s.chunks_.data();
    }
    if (!s.fill_.empty()) {
      if (!detail::same_dtype(s.fill_type_, detail::native(s.dtype_)))
        throw error(NDF_ERR_DTYPE, detail::place(path_, name) + "a fill value of " + s.fill_type_ + " for elements of " + s.dtype_);
      c.fill = s.fill_.data();
    }
    s.describe(c);
    return make(detail::place(path_, name), ndf_file_add, detail::c_text(name, "name"), &c);
  }

 private:
  std::vector<std::int64_t> rows_where(const std::vector<term> &terms, const char *condition, const where_options &options) const {
    std::vector<ndf_term> c;
    for (const term &t : terms)
      c.push_back({sizeof(ndf_term), t.op, detail::c_text(t.column, "column"), detail::c_text(t.value, "value")});
    ndf_where_options o = {sizeof o, 0, options.start, options.stop, options.skip, options.limit, condition};
    std::vector<std::int64_t> rows;
    for (std::int64_t room = 1000, found = 0, next = 0; next >= 0; room = found) { // as many again
      rows.resize(static_cast<std::size_t>(found + room));
      std::int64_t n = room;
      detail::call(ndf_table_where, handle(), c.data(), static_cast<std::int64_t>(c.size()), &o, rows.data() + found, &n, &next);
      found += n;
      rows.resize(static_cast<std::size_t>(found));
      o.start = next;
      o.skip = 0;
      if (options.limit > 0) o.limit = options.limit - found;
    }
    return rows;
  }

  explicit file(const std::string &path) : path_(path) {}

  /// The array whose handle function(handle(), arguments..., &handle, &err) gives.
  template <class... P, class... A>
  ndfile::array make(std::string where, std::int32_t (*function)(P...), A... arguments) const {
    ndfile::array out(std::move(where)); // all that can fail comes before the handle, which would have no owner
    ndf_array array = 0;
    detail::call(function, handle(), arguments..., &array);
    out.handle_ = detail::handle(array, ndf_array_close);
    return out;
  }

  ndf_file_info info() const {
    ndf_file_info out = {};
    out.struct_size = sizeof out;
    detail::call(ndf_file_get_info, handle(), &out);
    return out;
  }

  detail::handle handle_;
  std::string path_;
};

// ==== Progress ==========================================================================

/// Called during a long call with the steps that are done, of so many; false cancels. An exception cancels too, and comes
/// out of the call.
using progress = std::function<bool(std::int64_t done, std::int64_t total)>;

namespace detail {

/// A function of the user that the library calls: its exceptions must not pass through the library.
template <class F>
struct callback {
  const F &function;
  std::exception_ptr thrown = nullptr;

  /// Calls it unless it has thrown before; other than 0 cancels.
  template <class... A>
  std::int32_t operator()(A &&...arguments) noexcept {
    if (thrown) return 1;
    try {
      return function(std::forward<A>(arguments)...) ? 0 : 1;
    } catch (...) {
      thrown = std::current_exception();
      return 1;
    }
  }
  void rethrow() const {
    if (thrown) std::rethrow_exception(thrown);
  }
};

inline std::int32_t call_progress(void *user, std::int64_t done, std::int64_t total) {
  return (*static_cast<callback<progress> *>(user))(done, total);
}

} // namespace detail

// ==== Small files in one call ===========================================================

/// An array of a loaded_file: a view, good as long as the loaded_file (or the one that it was moved to) lives.
class loaded_array {
 public:
  /// UTF-8; "" where the file is one array.
  std::string_view name() const noexcept { return text(info_->name_offset, info_->name_len); }
  /// Name of the dtype in the byte order of the machine.
  std::string_view dtype() const noexcept {
    return info_->dtype_len > 0 ? text(info_->dtype_offset, info_->dtype_len) : std::string_view(info_->dtype);
  }
  /// Elements along each axis.
  extents shape() const { return extents(info_->shape, info_->shape + info_->ndim); }
  /// Number of elements.
  std::int64_t size() const noexcept { return info_->count; }
  /// Bytes of an element; 0 for texts.
  std::int64_t itemsize() const noexcept { return info_->itemsize; }
  /// NDF_ARRAY_* bits.
  std::uint32_t flags() const noexcept { return info_->flags; }

  /// The bytes of all elements, row-major, in the byte order of the machine; those of texts one after the other. They
  /// begin at a multiple of 64 bytes. Zero where elements are missing.
  span<const std::uint8_t> bytes() const noexcept {
    return {base_ + info_->data_offset, static_cast<std::size_t>(info_->data_len)};
  }
  /// One byte an element, 1 = missing; empty for an array that is not masked.
  span<const std::uint8_t> mask() const noexcept {
    if (info_->mask_offset < 0) return {};
    return {base_ + info_->mask_offset, static_cast<std::size_t>(info_->count)};
  }

  /// Whether T is the type of the elements.
  template <NDFILE_ELEMENT T>
  bool holds() const {
    return detail::same_dtype(detail::dtype_name<T>(), dtype());
  }

  /// The elements, row-major. Throws NDF_ERR_DTYPE when T is not their type (nothing is converted), NDF_ERR_NO_DATA.
  template <NDFILE_ELEMENT T>
  span<const T> values() const {
    if (info_->flags & NDF_ARRAY_NO_DATA) fail(NDF_ERR_NO_DATA, "the array has metadata but no data");
    if (!holds<T>() || info_->itemsize != static_cast<std::int64_t>(sizeof(T)))
      fail(NDF_ERR_DTYPE, "elements of " + std::string(dtype()) + " where " + detail::dtype_name<T>() + " are expected");
    return {reinterpret_cast<const T *>(bytes().data()), static_cast<std::size_t>(info_->count)};
  }

  /// The texts, row-major; missing ones are std::nullopt. Throws NDF_ERR_DTYPE for other elements.
  std::vector<std::optional<std::string_view>> strings() const {
    if (info_->offsets_offset < 0) fail(NDF_ERR_DTYPE, "elements of " + std::string(dtype()) + " where texts are expected");
    const auto *offsets = reinterpret_cast<const std::int64_t *>(base_ + info_->offsets_offset);
    const span<const std::uint8_t> missing = mask();
    std::vector<std::optional<std::string_view>> out(static_cast<std::size_t>(info_->count));
    for (std::size_t i = 0; i < out.size(); i++)
      if (missing.empty() || !missing[i]) out[i] = text(info_->data_offset + offsets[i], offsets[i + 1] - offsets[i]);
    return out;
  }

 private:
  friend class loaded_file;

  loaded_array(const ndf_load_info *info, const std::uint8_t *base, const char *path)
      : info_(info), base_(base), path_(path) {}

  std::string_view text(std::int64_t offset, std::int64_t length) const noexcept {
    return {reinterpret_cast<const char *>(base_ + offset), static_cast<std::size_t>(length)};
  }

  /// Everything here is in the byte order of the machine, '=', or has none, '|'.
  [[noreturn]] void fail(std::int32_t code, const std::string &message) const {
    throw error(code, detail::place(path_, name()) + message);
  }

  const ndf_load_info *info_;
  const std::uint8_t *base_;
  const char *path_;
};

class result;
struct many_options;

/// The arrays of a small file in memory, in file order; made by load and load_many. It is moved, never copied. It owns its
/// memory, which what one call of load_many has read together shares: that lives as long as any of them.
class loaded_file {
 public:
  loaded_file(loaded_file &&) noexcept = default;
  loaded_file &operator=(loaded_file &&) noexcept = default;

  std::size_t size() const noexcept { return arrays_.size(); }
  bool empty() const noexcept { return arrays_.empty(); }
  const loaded_array *begin() const noexcept { return arrays_.data(); }
  const loaded_array *end() const noexcept { return arrays_.data() + arrays_.size(); }
  /// i is less than size(); it is not checked.
  const loaded_array &operator[](std::size_t i) const noexcept { return arrays_[i]; }

  /// The array of that name, or nullptr.
  const loaded_array *find(std::string_view name) const noexcept {
    for (const loaded_array &a : arrays_)
      if (a.name() == name) return &a;
    return nullptr;
  }
  /// The array of that name, "" where the file is one array. Throws NDF_ERR_NAME when there is none.
  const loaded_array &at(std::string_view name) const {
    if (const loaded_array *a = find(name)) return *a;
    throw error(NDF_ERR_NAME, detail::place(path_.data(), name) + "no array of that name");
  }

 private:
  friend loaded_file load(const std::string &path, const std::optional<std::string> &name);
  friend std::vector<result> load_many(const std::vector<std::string> &paths, const many_options &options);

  static constexpr std::align_val_t alignment{64};
  using memory = std::shared_ptr<std::uint8_t>; // one block for all files that were read together

  static memory allocate(std::int64_t size) {
    return memory(static_cast<std::uint8_t *>(::operator new(static_cast<std::size_t>(size), alignment)),
                  [](std::uint8_t *p) { ::operator delete(p, alignment); });
  }

  loaded_file(const std::string &path, memory block, std::vector<ndf_load_info> infos)
      : path_(path.c_str(), path.c_str() + path.size() + 1), memory_(std::move(block)), infos_(std::move(infos)) {
    arrays_.reserve(infos_.size());
    for (const ndf_load_info &info : infos_) {
      if (std::strcmp(info.dtype, "|b1") == 0) { // other bytes than 0 and 1 are no bools in C++
        std::uint8_t *byte = memory_.get() + info.data_offset;
        for (std::int64_t i = 0; i < info.data_len; i++) byte[i] = byte[i] != 0;
      }
      arrays_.push_back(loaded_array(&info, memory_.get(), path_.data()));
    }
  }

  // Arrays point into the others, whose memory stays where it is when they are moved.
  std::vector<char> path_;
  memory memory_;
  std::vector<ndf_load_info> infos_;
  std::vector<loaded_array> arrays_;
};

/// Reads a small file, all arrays or the one of that name, in one call of the library. The format goes by the extension
/// first and by content when that was wrong. Takes about 25 KiB of stack.
inline loaded_file load(const std::string &path, const std::optional<std::string> &name = std::nullopt) {
  constexpr std::int64_t few = 8;
  alignas(64) std::uint8_t scratch[16 << 10]; // enough for many files; then the memory is exactly what they take
  ndf_load_info infos[few];
  infos[0].struct_size = sizeof infos[0];
  const char *c_path = detail::c_text(path, "path"), *c_name = name ? detail::c_text(*name, "name") : nullptr;
  ndf_error err;
  std::int64_t need = sizeof scratch, n = few;
  std::int32_t status = ndf_load(c_path, c_name, scratch, &need, infos, &n, &err);
  if (status == NDF_OK) {
    loaded_file::memory block = loaded_file::allocate(need);
    std::memcpy(block.get(), scratch, static_cast<std::size_t>(need));
    return loaded_file(path, std::move(block), std::vector<ndf_load_info>(infos, infos + n));
  }
  while (status == NDF_ERR_BUFFER) { // again when the file has grown in between
    loaded_file::memory block = loaded_file::allocate(need);
    std::vector<ndf_load_info> all(static_cast<std::size_t>(n > 0 ? n : 1));
    all[0].struct_size = sizeof all[0];
    n = static_cast<std::int64_t>(all.size());
    status = ndf_load(c_path, c_name, block.get(), &need, all.data(), &n, &err);
    if (status == NDF_OK) {
      all.resize(static_cast<std::size_t>(n));
      return loaded_file(path, std::move(block), std::move(all));
    }
  }
  detail::raise(status, err);
}

/// Reads one array of a small file, row-major; "" is the array of a file that is one. T and errors as for array::read.
template <NDFILE_ELEMENT T>
std::vector<T> load(const std::string &path, const std::string &name = {}) {
  const loaded_file f = load(path, std::optional<std::string>(name));
  const loaded_array &a = f.at(name);
  if (!a.mask().empty() || !a.holds<T>()) return file::open(path).array(name).read<T>(); // converts, refuses
  const span<const T> values = a.values<T>();
  return std::vector<T>(values.begin(), values.end());
}

struct new_file;

/// One array for save. It refers to the caller's elements, which have to live until save has returned; only texts and a
/// std::vector<bool> are copied.
class item : public detail::described<item> {
 public:
  /// Elements in anything contiguous, row-major; or texts: any range of std::string, std::string_view or const char *,
  /// or of std::optional of these, where none is a missing element. NDF_ERR_SHAPE when the shape has not as many.
  /// Numbers in an object that has a name are not copied: it must stay as it is until the item has been written. What is
  /// temporary, or moved into the call, is kept in the item and its copies; of a view only the view is.
  template <class C, class = detail::not_strided<C>>
  item(std::string name, C &&values, extents shape) : name_(std::move(name)), shape_(std::move(shape)) {
    using range = std::remove_cv_t<std::remove_reference_t<C>>;
    static_assert(!std::is_convertible_v<const C &, std::string_view>, "one text is a list of one, with shape {}");
    using value = detail::range_value<range>;
    if constexpr (detail::is_text<value>) {
      own(detail::pack_texts(values), "str");
      size_ = own_->offsets.size() - 1;
      if (detail::is_optional<value>::value) mask_ = own_->mask;
    } else if constexpr (std::is_same_v<range, std::vector<bool>>) {
      detail::packed bytes;
      bytes.bytes.assign(values.begin(), values.end());
      own(std::move(bytes), detail::dtype_name<bool>());
      size_ = own_->bytes.size();
    } else {
      const auto &stays = detail::keep(std::forward<C>(values), kept_);
      const span view(stays);
      dtype_ = detail::dtype_name<value>();
      data_ = view.data();
      size_ = view.size();
    }
  }

  /// The same along one axis.
  template <class C, class = detail::not_strided<C>>
  item(std::string name, C &&values)
      : item(std::move(name), std::forward<C>(values), {static_cast<std::int64_t>(std::distance(std::begin(values), std::end(values)))}) {}

  /// Elements in memory with gaps or in another order of axes, which must stay until the item has been written.
  template <class T>
  item(std::string name, const strided<T> &view)
      : name_(std::move(name)), dtype_(detail::dtype_name<T>()), shape_(view.shape), strides_(view.strides),
        data_(view.data), is_strided_(true) {}

  /// One byte an element in row-major order, 1 = missing: what the memory holds there is not stored. It is kept as the
  /// values are.
  template <class C>
  item &mask(C &&missing) {
    mask_ = detail::keep(std::forward<C>(missing), kept_mask_);
    return *this;
  }
  /// Texts are stored as "bytes", which may be any, not as "str", which is UTF-8.
  item &as_bytes() {
    if (!own_ || own_->offsets.empty()) throw error(NDF_ERR_DTYPE, detail::place("", name_) + "as_bytes is for texts");
    dtype_ = "bytes";
    return *this;
  }

 private:
  friend class file;
  friend void save(const std::string &path, const std::vector<item> &items, const write_options &options);
  friend std::vector<std::optional<error>> save_many(const std::vector<new_file> &files, const write_options &options,
                                                     const many_options &many);

  void own(detail::packed elements, std::string dtype) {
    own_ = std::make_shared<const detail::packed>(std::move(elements));
    data_ = own_->bytes.data();
    dtype_ = std::move(dtype);
  }

  /// The item for the library, which points into this one.
  ndf_item c_item(const std::string &path) const {
    ndf_item out = {};
    out.struct_size = sizeof out;
    out.ndim = static_cast<std::int32_t>(shape_.size());
    out.name = detail::c_text(name_, "name");
    out.dtype = detail::c_text(dtype_, "dtype");
    out.shape = shape_.data();
    out.data = data_;
    if (is_strided_) {
      if (strides_.size() != shape_.size())
        throw error(NDF_ERR_SHAPE, detail::place(path, name_) + std::to_string(strides_.size()) + " strides, expected " +
                                       std::to_string(shape_.size()));
      out.strides = strides_.data();
    } else {
      check_count(path, "elements", size_);
    }
    if (!mask_.empty()) {
      check_count(path, "bytes of mask", mask_.size());
      out.mask = mask_.data();
    }
    if (own_ && !own_->offsets.empty()) out.offsets = own_->offsets.data();
    describe(out);
    return out;
  }

  void check_count(const std::string &path, const char *what, std::size_t found) const {
    if (found != detail::count_of(shape_.data(), shape_.size()))
      throw error(NDF_ERR_SHAPE, detail::place(path, name_) + std::to_string(found) + " " + what + ", expected those of shape " +
                                     detail::shape_text(shape_.data(), shape_.size()));
  }

  std::string name_, dtype_;
  extents shape_, strides_;
  const void *data_ = nullptr;
  std::size_t size_ = 0;
  span<const std::uint8_t> mask_;
  bool is_strided_ = false;
  std::shared_ptr<const detail::packed> own_;
  std::shared_ptr<const void> kept_, kept_mask_; // temporaries that data_ and mask_ point into
};

inline void file::append_rows(const std::vector<item> &rows) {
  std::vector<ndf_item> c;
  for (const item &i : rows) c.push_back(i.c_item(path_));
  detail::call(ndf_table_append, handle(), c.data(), static_cast<std::int64_t>(c.size()));
}

/// Writes arrays as a new file in one call of the library, in the format of the extension or of the options. After an
/// error nothing of the new file is left, and an older one is untouched (with options.direct it can be lost).
/// \code
///   ndfile::save("weather.ds", {ndfile::item("t", t, {2, 3}).mask(missing).dims({"y", "x"}).attrs(R"({"units": "K"})"),
///                               ndfile::item("station", std::vector<std::string>{"Praha", "Oslo"})});
/// \endcode
inline void save(const std::string &path, const std::vector<item> &items, const write_options &options = {}) {
  std::vector<ndf_item> c;
  c.reserve(items.size());
  for (const item &i : items) c.push_back(i.c_item(path));
  const ndf_write_options o = detail::c_options(options);
  detail::call(ndf_save, detail::c_text(path, "path"), detail::c_option(options.format, "format"), c.data(),
               static_cast<std::int64_t>(c.size()), detail::c_option(options.attrs, "attributes"), &o);
}

// ==== Many small files in one call ======================================================

/// Options of load_many and save_many.
struct many_options {
  std::int32_t threads = 0;                ///< at most so many threads; 0: as ndf_set_threads says
  ndfile::progress progress = {};          ///< a step is a file
  std::optional<std::string> name = {};    ///< the array to read of each file; none: all. load_many only
};

/// What load_many gives for one path: its arrays, or the error.
class result {
 public:
  explicit result(loaded_file file) : file_(std::move(file)) {}
  explicit result(ndfile::error error) : error_(std::move(error)) {}

  /// Whether the file was read.
  explicit operator bool() const noexcept { return file_.has_value(); }
  /// The arrays; throws the error of this path where there is one.
  const loaded_file &value() const {
    if (error_) throw *error_;
    return *file_;
  }
  const loaded_file &operator*() const { return value(); }
  const loaded_file *operator->() const { return &value(); }
  /// Why the file was not read; std::nullopt where it was.
  const std::optional<ndfile::error> &error() const noexcept { return error_; }

 private:
  std::optional<loaded_file> file_;
  std::optional<ndfile::error> error_;
};

namespace detail {

/// Calls function(arguments..., &c, &err) with C's options, whose progress counts on from done files of total. Of the statuses
/// those of single files are no error of the call; an exception of the user's progress is thrown.
struct many_call {
  many_call(const many_options &options, std::size_t total) : options_(options), total_(static_cast<std::int64_t>(total)) {
    if (options.progress)
      step_ = [this](std::int64_t done, std::int64_t) { // files without room are read again, and were counted
        return options_.progress(told_ = std::max(told_, done_ + done), total_);
      };
  }

  template <class... P, class... A>
  std::int32_t operator()(std::int32_t (*function)(P...), A... arguments) {
    callback<progress> step{step_};
    ndf_many_options c = {};
    c.struct_size = sizeof c;
    c.threads = options_.threads;
    c.progress = options_.progress ? call_progress : nullptr;
    c.user = &step;
    ndf_error err;
    const std::int32_t status = function(arguments..., &c, &err);
    step.rethrow();
    if (status == NDF_ERR_ARGUMENT) raise(status, err);
    return status;
  }
  /// So many more files are done with.
  void add(std::size_t files) { done_ += static_cast<std::int64_t>(files); }

 private:
  const many_options &options_;
  progress step_;
  std::int64_t done_ = 0, told_ = 0, total_;
};

/// Files of one call of the library: their errors take a KiB each.
inline constexpr std::size_t files_at_once = 1024;

inline error canceled(const std::string &path) {
  return error(NDF_ERR_CANCELED, place(path, {}) + "not begun, since the call was canceled");
}

} // namespace detail

/// Reads many small files, in parallel where that pays: a result for each path, in their order. One that fails does not stop
/// the others. After progress has canceled, those not read are NDF_ERR_CANCELED.
/// \code
///   for (const ndfile::result &r : ndfile::load_many(paths))
///     if (r) use(r->at("t").values<float>()); else std::cerr << r.error()->what() << '\n';
/// \endcode
inline std::vector<result> load_many(const std::vector<std::string> &paths, const many_options &options = {}) {
  const char *name = options.name ? detail::c_text(*options.name, "name") : nullptr;
  detail::many_call call(options, paths.size());
  std::vector<std::optional<result>> found(paths.size());
  std::vector<std::size_t> pending;
  bool canceled = false;
  for (std::size_t begin = 0; begin < paths.size() && !canceled; begin += pending.size()) {
    pending.resize(std::min(detail::files_at_once, paths.size() - begin));
    std::iota(pending.begin(), pending.end(), begin);
    const std::size_t batch = pending.size();
    std::int64_t len = static_cast<std::int64_t>(batch) << 14, ninfos = static_cast<std::int64_t>(batch) * 8;
    while (!pending.empty() && !canceled) { // again for those that found no room
      std::vector<const char *> c_paths;
      for (const std::size_t i : pending) c_paths.push_back(detail::c_text(paths[i], "path"));
      std::vector<ndf_load_result> results(pending.size());
      std::vector<ndf_error> errors(pending.size());
      std::vector<ndf_load_info> infos(static_cast<std::size_t>(std::max<std::int64_t>(ninfos, 1)));
      results[0].struct_size = sizeof results[0];
      infos[0].struct_size = sizeof infos[0];
      const loaded_file::memory block = loaded_file::allocate(len);
      canceled = NDF_ERR_CANCELED == call(ndf_load_many, c_paths.data(), static_cast<std::int64_t>(c_paths.size()), name, block.get(),
                                          &len, infos.data(), &ninfos, results.data(), errors.data());
      std::vector<std::size_t> again;
      for (std::size_t i = 0; i < pending.size(); i++) {
        const ndf_load_result &r = results[i];
        const ndf_load_info *first = infos.data() + r.first_info;
        if (r.status == NDF_OK)
          found[pending[i]].emplace(loaded_file(paths[pending[i]], block, std::vector<ndf_load_info>(first, first + r.ninfos)));
        else if (r.status == NDF_ERR_BUFFER)
          again.push_back(pending[i]);
        else if (r.status == NDF_ERR_CANCELED)
          found[pending[i]].emplace(detail::canceled(paths[pending[i]]));
        else
          found[pending[i]].emplace(error(r.status, errors[i].message, errors[i].os_error, errors[i].offset));
      }
      pending = std::move(again);
    }
    pending.resize(batch);
    call.add(batch);
  }
  std::vector<result> out;
  out.reserve(paths.size());
  for (std::size_t i = 0; i < paths.size(); i++) out.push_back(found[i] ? std::move(*found[i]) : result(detail::canceled(paths[i])));
  return out;
}

/// A file for save_many.
struct new_file {
  std::string path;        ///< where it shall appear
  std::vector<item> items; ///< its arrays; what they refer to has to live until save_many has returned
  std::string attrs = {};  ///< attributes of the file as a JSON object; empty: those of the options
};

/// Writes many new files, in parallel where that pays, each as save does: an error for each file, in their order, or
/// std::nullopt where it was written. One that fails does not stop the others; an item without as many elements as its shape
/// has is thrown before any file is written. After progress has canceled, those not begun are NDF_ERR_CANCELED.
inline std::vector<std::optional<error>> save_many(const std::vector<new_file> &files, const write_options &options = {},
                                                   const many_options &many = {}) {
  std::vector<std::vector<ndf_item>> items(files.size());
  std::vector<ndf_save_file> c(files.size());
  for (std::size_t i = 0; i < files.size(); i++) {
    const new_file &f = files[i];
    for (const item &one : f.items) items[i].push_back(one.c_item(f.path));
    c[i].struct_size = sizeof c[i];
    c[i].path = detail::c_text(f.path, "path");
    c[i].format = detail::c_option(options.format, "format");
    c[i].items = items[i].data();
    c[i].nitems = static_cast<std::int64_t>(items[i].size());
    c[i].attrs_json = detail::c_option(f.attrs.empty() ? options.attrs : f.attrs, "attributes");
  }
  const ndf_write_options o = detail::c_options(options);
  detail::many_call call(many, files.size());
  std::vector<std::optional<error>> out(files.size());
  std::vector<std::int32_t> statuses(detail::files_at_once);
  std::vector<ndf_error> errors(std::min(files.size(), detail::files_at_once));
  bool canceled = false;
  for (std::size_t begin = 0, n; begin < files.size(); begin += n) {
    n = std::min(detail::files_at_once, files.size() - begin);
    std::fill(statuses.begin(), statuses.end(), NDF_ERR_CANCELED);
    if (!canceled)
      canceled = NDF_ERR_CANCELED == call(ndf_save_many, c.data() + begin, static_cast<std::int64_t>(n), &o, statuses.data(), errors.data());
    for (std::size_t i = 0; i < n; i++) {
      if (statuses[i] == NDF_ERR_CANCELED)
        out[begin + i] = detail::canceled(files[begin + i].path);
      else if (statuses[i] != NDF_OK)
        out[begin + i].emplace(statuses[i], errors[i].message, errors[i].os_error, errors[i].offset);
    }
    call.add(n);
  }
  return out;
}

// ==== Blosc1 chunks =====================================================================

/// Blosc1 chunks in memory, which c-blosc and its bindings read and write.
namespace blosc {

/// How compress works.
struct options : compression {
  std::int32_t threads = 1;   ///< the most threads to use
  std::int64_t blocksize = 0; ///< bytes; 0: as c-blosc chooses
};

/// What the header of a chunk says; bytes are its first 16 or more. NDF_ERR_CORRUPT, NDF_ERR_NOT_SUPPORTED for Blosc2.
inline ndf_blosc_info info(span<const std::uint8_t> chunk) {
  ndf_blosc_info out = {};
  out.struct_size = sizeof out;
  detail::call(ndf_blosc_get_info, chunk.data(), static_cast<std::int64_t>(chunk.size()), &out);
  return out;
}

/// Makes a chunk of elements in anything contiguous, at most 2^31 - 17 bytes of them; the filter sees elements of sizeof(T).
template <class C>
std::vector<std::uint8_t> compress(const C &values, const options &how = {}) {
  using value = detail::range_value<C>;
  static_assert(std::is_trivially_copyable_v<value>, "elements are copied byte by byte");
  const span<const value> data(values);
  ndf_blosc_params params = {};
  params.struct_size = sizeof params;
  params.codec = detail::c_text(how.codec, "codec");
  params.level = how.level;
  params.shuffle = how.shuffle;
  params.typesize = sizeof(value) < 256 ? static_cast<std::int32_t>(sizeof(value)) : 1;
  params.threads = how.threads;
  params.blocksize = how.blocksize;
  std::vector<std::uint8_t> out(data.size() * sizeof(value) + 16);
  auto len = static_cast<std::int64_t>(out.size());
  detail::call(ndf_blosc_compress, static_cast<const void *>(data.data()), len - 16, &params, out.data(), &len);
  out.resize(static_cast<std::size_t>(len));
  return out;
}

/// The elements of a chunk. NDF_ERR_DTYPE where they are no whole number of T; NDF_ERR_CORRUPT; NDF_ERR_NOT_SUPPORTED.
template <class T>
std::vector<T> decompress(span<const std::uint8_t> chunk, std::int32_t threads = 1) {
  static_assert(std::is_trivially_copyable_v<T> && !std::is_same_v<T, bool>, "elements are copied byte by byte");
  std::int64_t len = info(chunk).nbytes;
  if (len % static_cast<std::int64_t>(sizeof(T)) != 0)
    throw error(NDF_ERR_DTYPE, "chunk of " + std::to_string(len) + " bytes, no whole number of elements of " + std::to_string(sizeof(T)));
  std::vector<T> out(static_cast<std::size_t>(len) / sizeof(T));
  detail::call(ndf_blosc_decompress, chunk.data(), static_cast<std::int64_t>(chunk.size()), threads, static_cast<void *>(out.data()), &len);
  return out;
}

} // namespace blosc

// ==== Whole files =======================================================================

/// Something that verify has found.
struct problem {
  std::int32_t code;                ///< NDF_ERR_*: see ndf_problem
  std::int64_t offset;              ///< byte position in the file, or -1
  std::string path;                 ///< the file that it lies in
  std::optional<std::string> array; ///< the array that it belongs to
  std::string message;              ///< what was expected and what was found
  std::string repair;               ///< what a repair does about it; empty: nothing certain can be done
  bool repaired;                    ///< that has been done
  std::uint32_t problem_class;      ///< NDF_PROBLEM_*
};

/// Options of verify.
struct verify_options {
  std::string format = {};      ///< name of the format; empty: found by content
  bool repair = false;          ///< do what the problems' repair says; see ndf_verify
  bool undo = false;            ///< give back what the last repair took away, and verify nothing
  bool sealed = false;          ///< compare all files with the seal, and nothing else
  bool follow_symlinks = false; ///< as in open_options
  std::int64_t max_header = 0;  ///< longest metadata text in bytes; 0: 64 MiB
  ndfile::progress progress = {}; ///< a step is a chunk or block
};

/// Options of convert.
struct convert_options {
  std::string from = {};        ///< name of the format of the source; empty: found by content
  std::string to = {};          ///< name of the format of the destination; empty: by its extension
  std::string name = {};        ///< the only array to convert, or the name for a single one
  bool allow_loss = false;      ///< convert also when something cannot be carried over
  bool check = true;            ///< read the result back and compare
  bool overwrite = false;       ///< the destination may exist and is replaced
  bool direct = false;          ///< as in write_options
  bool sync = false;            ///< as in write_options
  bool follow_symlinks = false; ///< as in open_options
  bool default_fill = false;    ///< as in open_options, of the source
  std::int64_t max_header = 0;  ///< longest metadata text in bytes; 0: 64 MiB
  ndfile::progress progress = {}; ///< a step is a byte of elements
  std::int64_t shard_size = 0;  ///< 0: shards as in the source; -1: none; else about so many bytes decoded make one
};

/// One part of a store that split cuts.
struct part {
  std::string path;   ///< the new store
  std::int64_t nrows; ///< rows that go there
};

/// Options of split and concat.
struct split_options {
  std::string format = {};      ///< name of the format; empty: found by content
  bool direct = false;          ///< as in write_options
  bool sync = false;            ///< as in write_options
  bool exclusive = false;       ///< what is to be written must not exist yet, otherwise NDF_ERR_EXISTS
  bool follow_symlinks = false; ///< as in open_options
  std::int64_t max_header = 0;  ///< longest metadata text in bytes; 0: 64 MiB
};

namespace detail {

/// The problem as C++ has it, made where exceptions are caught.
using report_function = std::function<bool(const ndf_problem &)>;
inline std::int32_t call_report(void *user, const ndf_problem *p) {
  return (*static_cast<callback<report_function> *>(user))(*p);
}

inline ndf_split_options c_options(const split_options &options) {
  ndf_split_options out = {};
  out.struct_size = sizeof out;
  out.commit = options.direct ? NDF_COMMIT_DIRECT : NDF_COMMIT_ATOMIC;
  out.sync = options.sync;
  out.exclusive = options.exclusive;
  out.follow_symlinks = options.follow_symlinks;
  out.format = c_option(options.format, "format");
  out.max_header = options.max_header;
  return out;
}

} // namespace detail

/// Checks a file or folder thoroughly, and repairs it where the options want so. Problems are the result, no error: one
/// says that checking could not go on.
inline std::vector<problem> verify(const std::string &path, const verify_options &options = {}) {
  std::vector<problem> out;
  const detail::report_function note = [&](const ndf_problem &p) {
    out.push_back({p.code, p.offset, p.path, std::nullopt, p.message, p.repair ? p.repair : "", p.repaired != 0, p.problem_class});
    if (p.array) out.back().array = p.array;
    return true;
  };
  detail::callback<detail::report_function> report{note};
  detail::callback<progress> step{options.progress};
  ndf_verify_options c = {};
  c.struct_size = sizeof c;
  c.repair = options.repair;
  c.undo = options.undo;
  c.sealed = options.sealed;
  c.follow_symlinks = options.follow_symlinks;
  c.format = detail::c_option(options.format, "format");
  c.max_header = options.max_header;
  c.progress = options.progress ? detail::call_progress : nullptr;
  c.user = &step;
  ndf_error err;
  std::int64_t n = 0;
  const std::int32_t status = ndf_verify(detail::c_text(path, "path"), &c, detail::call_report, &report, &n, &err);
  report.rethrow();
  step.rethrow();
  if (status != NDF_OK) detail::raise(status, err);
  return out;
}

/// Writes the SHA-256 of every file of a store, or of one file, to PATH.ndf-seal beside it, and gives the number of files.
/// verify with sealed compares. Of the options follow_symlinks and progress count; a step is a byte.
inline std::int64_t seal(const std::string &path, const verify_options &options = {}) {
  detail::callback<progress> step{options.progress};
  ndf_verify_options c = {};
  c.struct_size = sizeof c;
  c.follow_symlinks = options.follow_symlinks;
  c.progress = options.progress ? detail::call_progress : nullptr;
  c.user = &step;
  ndf_error err;
  std::int64_t n = 0;
  const std::int32_t status = ndf_seal(detail::c_text(path, "path"), &c, &n, &err);
  step.rethrow();
  if (status != NDF_OK) detail::raise(status, err);
  return n;
}

/// Copies a file into one of another format, or of the same. What the destination has no place for is NDF_ERR_LOSS, before
/// anything is written, unless it is allowed.
inline void convert(const std::string &src, const std::string &dst, const convert_options &options = {}) {
  detail::callback<progress> step{options.progress};
  ndf_convert_options c = {};
  c.struct_size = sizeof c;
  c.allow_loss = options.allow_loss;
  c.no_check = !options.check;
  c.overwrite = options.overwrite;
  c.from = detail::c_option(options.from, "from");
  c.to = detail::c_option(options.to, "to");
  c.name = detail::c_option(options.name, "name");
  c.commit = options.direct ? NDF_COMMIT_DIRECT : NDF_COMMIT_ATOMIC;
  c.sync = options.sync;
  c.progress = options.progress ? detail::call_progress : nullptr;
  c.user = &step;
  c.follow_symlinks = options.follow_symlinks;
  c.max_header = options.max_header;
  c.default_fill = options.default_fill;
  c.shard_size = options.shard_size;
  ndf_error err;
  const std::int32_t status = ndf_convert(detail::c_text(src, "path"), detail::c_text(dst, "path"), &c, nullptr, nullptr, &err);
  step.rethrow();
  if (status != NDF_OK) detail::raise(status, err);
}

/// Cuts a store into several along the first axis, without touching compressed data: see ndf_split.
inline void split(const std::string &src, const std::vector<part> &parts, const split_options &options = {}) {
  std::vector<ndf_part> c;
  for (const part &p : parts) c.push_back({sizeof(ndf_part), 0, detail::c_text(p.path, "path"), p.nrows});
  const ndf_split_options o = detail::c_options(options);
  detail::call(ndf_split, detail::c_text(src, "path"), c.data(), static_cast<std::int64_t>(c.size()), &o);
}

/// Makes one store of several, one after the other along the first axis: see ndf_concat.
inline void concat(const std::vector<std::string> &srcs, const std::string &dst, const split_options &options = {}) {
  std::vector<const char *> c;
  for (const std::string &src : srcs) c.push_back(detail::c_text(src, "path"));
  const ndf_split_options o = detail::c_options(options);
  detail::call(ndf_concat, c.data(), static_cast<std::int64_t>(c.size()), detail::c_text(dst, "path"), &o);
}

} // namespace ndfile

#if __cplusplus >= 202002L
template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<ndfile::span<T>> = true;
#endif

#endif // NDFILE_HPP
