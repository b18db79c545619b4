// ndfile.hpp: what is written comes back, handles own what they should, errors say why. Usage: cpp_test FOLDER
#include <ndfile.hpp>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>
#if __cplusplus >= 202002L
#include <span>
#endif

// The struct of the RawArray page, and one with a dtype of its own name.
struct foo {
  char info[12];
  std::uint32_t index;
  double v[8];
};
template <>
struct ndfile::dtype_of<foo> : ndfile::raw_dtype<foo> {};

struct code {
  char text[4];
};
template <>
struct ndfile::dtype_of<code> {
  static std::string name() { return "S4"; }
};

namespace {

using ndfile::box;
using ndfile::extents;
using ndfile::file;
using ndfile::item;
using ndfile::spec;
using texts = std::vector<std::optional<std::string>>;

std::atomic<int> failures{0};
std::string folder;

void check(bool ok, int line, const char *what) {
  if (ok) return;
  failures++;
  std::fprintf(stderr, "cpp_test.cpp:%d: not true: %s\n", line, what);
}
#define CHECK(...) check((__VA_ARGS__), __LINE__, #__VA_ARGS__)

// The call throws an error of that code, whose message has both texts.
template <class F>
void check_throws(std::int32_t code, const std::string &text, const std::string &more, F &&call, int line) {
  try {
    call();
    std::fprintf(stderr, "cpp_test.cpp:%d: nothing thrown instead of %s\n", line, ndf_status_name(code));
  } catch (const ndfile::error &e) {
    const std::string what = e.what();
    if (e.code() == code && what.find(text) != what.npos && what.find(more) != what.npos) return;
    std::fprintf(stderr, "cpp_test.cpp:%d: %s instead of %s: \"%s\" should have \"%s\" and \"%s\"\n", line, e.code_name(),
                 ndf_status_name(code), e.what(), text.c_str(), more.c_str());
  }
  failures++;
}
#define THROWS(code, text, more, ...) check_throws(code, text, more, [&] { (void)(__VA_ARGS__); }, __LINE__)

std::string in_folder(const std::string &name) { return folder + "/" + name; }

bool exists(const std::string &path) { return std::filesystem::exists(path); }

// Equal bit by bit, so that NaN and -0 count.
template <class T>
bool same(const std::vector<T> &a, const std::vector<T> &b) {
  if constexpr (std::is_same_v<T, bool>)
    return a == b;
  else
    return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
std::vector<T> extremes() {
  using limits = std::numeric_limits<T>;
  if constexpr (std::is_same_v<T, bool>)
    return {true, false, true, true, false, false};
  else
    return {limits::lowest(), limits::max(), T(0), T(1), limits::has_quiet_NaN ? limits::quiet_NaN() : T(2), T(-T(0))};
}

const std::vector<std::uint8_t> missing = {0, 1, 0, 0, 0, 1};

// The elements with zero where they are missing.
template <class T>
std::vector<T> zeroed(std::vector<T> values) {
  for (std::size_t i = 0; i < values.size(); i++)
    if (missing[i]) values[i] = T(0);
  return values;
}

template <class T>
void check_values(const std::string &path, const std::string &dtype) {
  const std::vector<T> values = extremes<T>();
  const file f = file::open(path);
  const ndfile::array plain = f.array("plain"), masked = f.array("masked");
  CHECK(plain.dtype() == dtype && plain.shape() == extents{2, 3} && plain.size() == 6);
  CHECK(plain.itemsize() == static_cast<std::int64_t>(sizeof(T)) && !plain.is_masked() && !plain.is_strings() && plain.has_data());
  CHECK(same(plain.read<T>(), values));
  CHECK(same(plain.read<T>({{0, 1}, {2, 1}}), {values[1], values[4]}));
  CHECK(same(plain.read<T>({{1, 0}, {1, 2}, {1, 2}}), {values[3], values[5]}));
  CHECK(same(plain.read_masked<T>().mask, std::vector<std::uint8_t>(6)));
  std::array<T, 6> memory;
  plain.read_into(memory);
  CHECK(std::equal(values.begin() + 2, values.begin() + 4, memory.begin() + 2));
  T turned[6];
  plain.read_into(ndfile::strided<T>{turned, {2, 3}, {sizeof(T), 2 * sizeof(T)}});
  CHECK(turned[3] == values[4] || values[4] != values[4]);
  CHECK(std::memcmp(&turned[2], &memory[1], sizeof(T)) == 0 && std::memcmp(&turned[1], &memory[3], sizeof(T)) == 0);

  CHECK(masked.is_masked());
  const ndfile::masked<T> got = masked.read_masked<T>();
  CHECK(same(got.values, zeroed(values)) && got.mask == missing);
  THROWS(NDF_ERR_MASKED, path, "masked", masked.read<T>());
  CHECK(same(masked.read<T>({{0, 2}, {1, 1}}), {values[2]}));
  std::vector<std::uint8_t> mask(6, 9);
  masked.read_into(memory, {}, mask);
  CHECK(mask == missing && std::memcmp(&memory[2], &turned[4], sizeof(T)) == 0);

  const ndfile::loaded_file all = ndfile::load(path);
  CHECK(all.size() == 2 && all[0].name() == "masked" && all[1].name() == "plain" && all.find("other") == nullptr);
  const ndfile::loaded_array &a = all.at("plain"), &m = all.at("masked");
  CHECK(a.dtype() == dtype && a.shape() == extents{2, 3} && a.size() == 6 && a.mask().empty() && a.holds<T>());
  CHECK(reinterpret_cast<std::uintptr_t>(a.bytes().data()) % 64 == 0);
  const auto view = a.values<T>();
  CHECK(same(std::vector<T>(view.begin(), view.end()), values));
  CHECK(m.flags() == NDF_ARRAY_MASKED && std::equal(missing.begin(), missing.end(), m.mask().begin()));
  CHECK(same(ndfile::load<T>(path, "plain"), values));
  THROWS(NDF_ERR_MASKED, path, "masked", ndfile::load<T>(path, "masked"));
}

// One dtype of ds, by save and by create.
template <class T>
void test_dtype(const std::string &dtype) {
  const std::vector<T> values = extremes<T>();
  const std::string saved = in_folder("saved.ds"), created = in_folder("created.ds");
  ndfile::save(saved, {item("plain", values, {2, 3}), item("masked", values, {2, 3}).mask(missing)});
  check_values<T>(saved, dtype);

  file f = file::create(created);
  f.add("plain", spec::of<T>({2, 3})).write(values);
  ndfile::array rows = f.add("masked", spec::of<T>({2, 3}).masked());
  const std::vector<T> first(values.begin(), values.begin() + 3), second(values.begin() + 3, values.end());
  rows.write(first, {{0, 0}, {1, 3}}, ndfile::span(missing.data(), 3));
  rows.write(second, {{1, 0}, {1, 3}}, ndfile::span(missing.data() + 3, 3));
  f.close();
  check_values<T>(created, dtype);
}

void test_dtypes() {
  test_dtype<bool>("|b1");
  test_dtype<std::int8_t>("|i1");
  test_dtype<std::uint8_t>("|u1");
  test_dtype<std::int16_t>("<i2");
  test_dtype<std::uint16_t>("<u2");
  test_dtype<std::int32_t>("<i4");
  test_dtype<std::uint32_t>("<u4");
  test_dtype<std::int64_t>("<i8");
  test_dtype<std::uint64_t>("<u8");
  test_dtype<float>("<f4");
  test_dtype<double>("<f8");
}

void test_dtype_names() {
  CHECK(ndfile::dtype_of<bool>::name() == "b1" && ndfile::dtype_of<signed char>::name() == "i1");
  CHECK(ndfile::dtype_of<long long>::name() == "i8" && ndfile::dtype_of<unsigned short>::name() == "u2");
  CHECK(ndfile::dtype_of<std::complex<float>>::name() == "c8" && ndfile::dtype_of<std::complex<double>>::name() == "c16");
  CHECK(ndfile::dtype_of<foo>::name() == "V80" && ndfile::dtype_of<code>::name() == "S4");
}

void test_conversion() {
  const std::string path = in_folder("conversion.ds");
  const std::vector<std::int32_t> values = {-1, 2, 1 << 30};
  const bool flags[] = {true, false};
  ndfile::save(path, {item("i", values), item("b", flags)});
  const file f = file::open(path);
  CHECK(f.array("i").read<double>() == std::vector<double>{-1, 2, 1 << 30});
  CHECK(f.array("i").read<std::complex<double>>()[0] == std::complex<double>(-1, 0));
  CHECK(ndfile::load<std::int64_t>(path, "i") == std::vector<std::int64_t>{-1, 2, 1 << 30});
  CHECK(f.array("b").read<int>() == std::vector<int>{1, 0});
  THROWS(NDF_ERR_DTYPE, path, "\"i\"", f.array("i").read<float>());
  CHECK(f.array("i").read_narrow<float>() == std::vector<float>{-1, 2, 1 << 30});
  CHECK(f.array("i").read_narrow<std::int8_t>({{0}, {2}}) == std::vector<std::int8_t>{-1, 2});
  THROWS(NDF_ERR_VALUE, path, "element [2]: ", f.array("i").read_narrow<std::int16_t>());
  THROWS(NDF_ERR_VALUE, path, "element [0]: ", f.array("i").read_narrow<std::uint32_t>());
  THROWS(NDF_ERR_DTYPE, path, "\"i\"", f.array("i").read<bool>());
  THROWS(NDF_ERR_DTYPE, path, "\"i\"", f.array("i").read<foo>());
  THROWS(NDF_ERR_DTYPE, path, "\"i\"", ndfile::load<float>(path, "i"));
  THROWS(NDF_ERR_DTYPE, path, "<i4", ndfile::load(path).at("i").values<std::int64_t>());
  THROWS(NDF_ERR_DTYPE, path, "\"i\"", ndfile::load(path).at("i").strings());
  THROWS(NDF_ERR_DTYPE, path, "\"i\"", f.array("i").read_strings());

  // The other byte order on disk.
  const std::string swapped = in_folder("swapped.ds");
  file g = file::create(swapped);
  g.add("x", spec(">i4", {3})).write(values);
  g.close();
  CHECK(file::open(swapped).array("x").dtype() == ">i4" && ndfile::load<std::int32_t>(swapped, "x") == values);
  CHECK(ndfile::load(swapped).at("x").holds<std::int32_t>());
}

// ds has no composite elements; a format that has them is named by the extension.
void test_composite() {
  const std::vector<foo> values = {{"first", 1, {1, 2}}, {"second", 2, {3}}};
  THROWS(NDF_ERR_DTYPE, "composite.ds", "V80", ndfile::save(in_folder("composite.ds"), {item("s", values)}));
  const std::string path = in_folder("composite.ra");
  ndfile::save(path, {item("", values)});
  CHECK(same(ndfile::load<foo>(path), values) && same(file::open(path).array().read<foo>({{1}, {1}}), {values[1]}));
  CHECK(file::open(path).kind() == ndfile::file_kind::array && file::open(path).trailing().empty());
  THROWS(NDF_ERR_DTYPE, path, "", ndfile::load<double>(path));
}

// Bytes after the data, more of them than the first try has room for.
void test_trailing() {
  const std::string path = in_folder("trailing.ra"), note(1000, 'x');
  ndfile::write_options options;
  options.trailing = note;
  ndfile::save(path, {item("", std::vector<int>{1, 2})}, options);
  CHECK(file::open(path).trailing() == note && same(ndfile::load<int>(path), {1, 2}));
  THROWS(NDF_ERR_NOT_SUPPORTED, "t.ds", "", ndfile::save(in_folder("t.ds"), {item("x", std::vector<int>{1})}, options));
}

// Mapped elements outlive the file; what does not lie there as in memory is refused.
void test_map() {
  const std::string path = in_folder("mapped.ra"), masked = in_folder("masked.ds");
  const std::vector<double> values = {1, 2, 3, 4, 5, 6};
  ndfile::save(path, {item("", values, {2, 3})});
  ndfile::mapped<double> m = file::open(path).array().map<double>();
  CHECK(std::equal(values.begin(), values.end(), m.begin(), m.end()) && m.shape() == ndfile::extents({2, 3}) && m[5] == 6);
  ndfile::mapped<double> other = std::move(m);
  CHECK(m.size() == 0 && other.size() == 6 && other.data()[1] == 2);
  other.close();
  CHECK(other.size() == 0);
  THROWS(NDF_ERR_DTYPE, path, "<f8", file::open(path).array().map<float>());
  ndfile::save(masked, {item("x", values).mask(std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0})});
  THROWS(NDF_ERR_NOT_SUPPORTED, masked, "", file::open(masked).array("x").map<double>());
}

void check_strings(const std::string &path) {
  const file f = file::open(path);
  const ndfile::array text = f.array("text"), bytes = f.array("bytes");
  CHECK(text.is_strings() && text.is_masked() && text.dtype() == "str" && text.itemsize() == 0 && bytes.dtype() == "bytes");
  CHECK(text.read_strings() == texts{"Praha", std::nullopt, "", "Plze\xc5\x88"});
  CHECK(text.read_strings({{1}, {2}, {2}}) == texts{std::nullopt, "Plze\xc5\x88"});
  CHECK(bytes.read_strings() == texts{std::string("a\0b", 3), "\xff"});
  CHECK(f.array("none").read_strings().empty() && f.array("none").shape() == extents{0});
  THROWS(NDF_ERR_DTYPE, path, "\"text\"", text.read<char>());
  THROWS(NDF_ERR_BOUNDS, path, "\"text\"", text.read_strings({{4}, {1}}));

  const ndfile::loaded_file all = ndfile::load(path);
  const std::vector<std::optional<std::string_view>> got = all.at("text").strings();
  CHECK(got.size() == 4 && got[0] == "Praha" && !got[1] && got[2] == "" && got[3] == "Plze\xc5\x88");
  CHECK(all.at("bytes").strings()[0] == std::string_view("a\0b", 3) && all.at("none").strings().empty());
  THROWS(NDF_ERR_DTYPE, path, "str", all.at("text").values<char>());
}

void test_strings() {
  const texts names = {"Praha", std::nullopt, "", "Plze\xc5\x88"};
  const std::vector<std::string> bytes = {std::string("a\0b", 3), "\xff"};
  const std::string saved = in_folder("strings.ds"), created = in_folder("strings2.ds");
  ndfile::save(saved, {item("text", names), item("bytes", bytes).as_bytes(), item("none", texts())});
  check_strings(saved);

  file f = file::create(created);
  ndfile::array a = f.add("text", spec("str", {4}).masked());
  a.write_strings(texts(names.begin(), names.begin() + 3), {{0}, {3}});
  THROWS(NDF_ERR_SHAPE, created, "\"text\"", a.write_strings(names, {{3}, {1}}));
  a.write_strings(std::array<const char *, 1>{"Plze\xc5\x88"}, {{3}, {1}});
  f.add("bytes", spec("bytes", {2})).write_strings(bytes);
  f.add("none", spec("str", {0})).write_strings(std::vector<std::string_view>());
  f.close();
  check_strings(created);

  THROWS(NDF_ERR_VALUE, "bad.ds", "\"x\"", ndfile::save(in_folder("bad.ds"), {item("x", bytes)}));
  THROWS(NDF_ERR_DTYPE, "\"x\"", "as_bytes", item("x", std::vector<int>{1}).as_bytes());
  CHECK(!exists(in_folder("bad.ds")));
}

void test_memory() {
  const std::string path = in_folder("memory.ds");
  const float m[6] = {0, 1, 2, 10, 11, 12};
  ndfile::save(path, {item("list", std::array<float, 3>{1, 2, 3}), item("array", m, {2, 3}),
                      item("view", ndfile::span(m + 3, 3)), item("turned", ndfile::strided{m, {3, 2}, {4, 12}}),
                      item("backward", ndfile::strided<const float>{m + 5, {6}, {-4}}), item("scalar", ndfile::span(m + 4, 1), {}),
                      item("empty", std::vector<float>(), {0, 7}), item("flags", std::vector<bool>{true, false, true})});
  CHECK(ndfile::load<float>(path, "list") == std::vector<float>{1, 2, 3});
  CHECK(ndfile::load<float>(path, "array") == std::vector<float>(m, m + 6));
  CHECK(ndfile::load<float>(path, "view") == std::vector<float>{10, 11, 12});
  CHECK(ndfile::load<float>(path, "turned") == std::vector<float>{0, 10, 1, 11, 2, 12});
  CHECK(ndfile::load<float>(path, "backward") == std::vector<float>{12, 11, 10, 2, 1, 0});
  CHECK(ndfile::load<float>(path, "scalar") == std::vector<float>{11} && ndfile::load(path).at("scalar").shape().empty());
  CHECK(ndfile::load<float>(path, "empty").empty() && ndfile::load(path).at("empty").shape() == extents{0, 7});
  CHECK(ndfile::load<bool>(path, "flags") == std::vector<bool>{true, false, true});
  CHECK(ndfile::load(path).size() == 8);

  const file f = file::open(path);
  CHECK(f.array("scalar").read<double>() == std::vector<double>{11} && f.array("empty").read<float>().empty());
  CHECK(f.array("empty").read_masked<float>().mask.empty());
  float backward[6];
  f.array("list").read_into(ndfile::strided{backward + 5, {3}, {-8}});
  CHECK(backward[5] == 1 && backward[3] == 2 && backward[1] == 3);
  f.array("array").read_into(ndfile::span(backward, 2), {{1, 0}, {1, 2}, {1, 2}});
  CHECK(backward[0] == 10 && backward[1] == 12);
#if __cplusplus >= 202002L
  std::vector<float> got(6);
  f.array("array").read_into(std::span(got));
  CHECK(got == std::vector<float>(m, m + 6));
  const ndfile::loaded_file all = ndfile::load(path);
  const std::span<const float> view = all.at("array").values<float>();
  ndfile::save(in_folder("span.ds"), {item("x", view, {3, 2})});
  CHECK(ndfile::load<float>(in_folder("span.ds"), "x") == got);
#endif

  // Memory that does not have the elements of the box, and boxes that are none.
  const ndfile::array a = f.array("array");
  std::vector<float> five(5), six(6);
  std::vector<std::uint8_t> mask(5);
  THROWS(NDF_ERR_SHAPE, path, "memory of 5 elements, expected 6", a.read_into(five));
  THROWS(NDF_ERR_SHAPE, path, "mask of 5 elements, expected 6", a.read_into(six, {}, mask));
  THROWS(NDF_ERR_SHAPE, path, "expected the shape of the box, (2, 3)", a.read_into(ndfile::strided{six.data(), {3, 2}, {4, 4}}));
  THROWS(NDF_ERR_SHAPE, path, "1 strides", a.read_into(ndfile::strided{six.data(), {2, 3}, {4}}));
  THROWS(NDF_ERR_SHAPE, path, "1 starts", a.read<float>({{0}, {2}}));
  THROWS(NDF_ERR_SHAPE, path, "1 steps", a.read<float>({{0, 0}, {1, 1}, {1}}));
  THROWS(NDF_ERR_BOUNDS, path, "(2, 4)", a.read<float>({{0, 0}, {2, 4}}));
  THROWS(NDF_ERR_BOUNDS, path, "\"array\"", a.read<float>({{0, 1}, {2, 3}}));
  THROWS(NDF_ERR_BOUNDS, path, "", a.read<float>({{0, 0}, {std::numeric_limits<std::int64_t>::max(), 3}}));
  THROWS(NDF_ERR_BOUNDS, path, "", a.read<float>({{0, 0}, {-1, -1}}));
  THROWS(NDF_ERR_BOUNDS, path, "", a.read<float>({{-1, 0}, {1, 1}}));
  THROWS(NDF_ERR_BOUNDS, path, "", a.read<float>({{0, 0}, {1, 2}, {1, 0}}));
  const std::string no = in_folder("no.ds");
  THROWS(NDF_ERR_SHAPE, no, "array \"x\": 5 elements, expected those of shape (2, 3)", ndfile::save(no, {item("x", five, {2, 3})}));
  THROWS(NDF_ERR_SHAPE, no, "(4611686018427387904, 4)", ndfile::save(no, {item("x", five, {std::int64_t(1) << 62, 4})}));
  THROWS(NDF_ERR_SHAPE, no, "(-5)", ndfile::save(no, {item("x", five, {-5})}));
  THROWS(NDF_ERR_SHAPE, no, "(0)", ndfile::save(no, {item("x", five, {0})}));
  THROWS(NDF_ERR_SHAPE, no, "bytes of mask", ndfile::save(no, {item("x", six).mask(mask)}));
  THROWS(NDF_ERR_SHAPE, no, "2 strides", ndfile::save(no, {item("x", ndfile::strided{m, {6}, {4, 4}})}));
  THROWS(NDF_ERR_SHAPE, no, "1 elements", ndfile::save(no, {item("x", texts{"a"}, {2})}));
  file g = file::create(no);
  ndfile::array x = g.add("x", spec::of<float>({2, 3}));
  THROWS(NDF_ERR_SHAPE, no, "memory of 5 elements", x.write(five));
  THROWS(NDF_ERR_SHAPE, no, "mask of 5 elements", x.write(six, {}, mask));
  THROWS(NDF_ERR_SHAPE, no, "memory of 6 elements", x.write(six, {{0, 0}, {1, 3}}));
  CHECK(!exists(no));
}

// What std::mdspan, Eigen and xtensor have, where they are not here.
template <class T>
struct like_mdspan {
  T *p;
  std::size_t rows, columns, pitch;
  static constexpr std::size_t rank() { return 2; }
  T *data_handle() const { return p; }
  std::size_t extent(std::size_t i) const { return i == 0 ? rows : columns; }
  std::size_t stride(std::size_t i) const { return i == 0 ? pitch : 1; }
};
struct like_eigen { // columns follow each other
  std::vector<double> memory;
  std::ptrdiff_t n;
  double *data() { return memory.data(); }
  const double *data() const { return memory.data(); }
  std::ptrdiff_t rows() const { return n; }
  std::ptrdiff_t cols() const { return static_cast<std::ptrdiff_t>(memory.size()) / n; }
  std::ptrdiff_t rowStride() const { return 1; }
  std::ptrdiff_t colStride() const { return n; }
};
struct like_xtensor {
  std::vector<float> memory;
  std::vector<std::size_t> extents_;
  std::vector<std::ptrdiff_t> steps;
  std::size_t offset;
  float *data() { return memory.data(); }
  std::size_t data_offset() const { return offset; }
  const std::vector<std::size_t> &shape() const { return extents_; }
  const std::vector<std::ptrdiff_t> &strides() const { return steps; }
};

void test_views() {
  const std::string path = in_folder("views.ds");
  like_eigen m{{1, 2, 3, 4, 5, 6}, 2}; // 1 3 5 / 2 4 6
  const like_eigen &fixed = m;
  ndfile::save(path, {item("m", ndfile::view(m)), item("c", ndfile::view(fixed))});
  const file f = file::open(path);
  CHECK(f.array("m").shape() == extents({2, 3}) && f.array("m").read<double>() == std::vector<double>({1, 3, 5, 2, 4, 6}));
  CHECK(f.array("c").read<double>() == f.array("m").read<double>());
  double room[2][4] = {};
  const like_mdspan<double> span{&room[0][0], 2, 3, 4};
  f.array("m").read_into(ndfile::view(span));
  CHECK(room[0][2] == 5 && room[0][3] == 0 && room[1][0] == 2);
  like_eigen back{std::vector<double>(6), 2};
  f.array("m").read_into(ndfile::view(back));
  CHECK(back.memory == m.memory);
  like_xtensor x{{0, 1, 2, 3, 4, 5}, {3}, {-2}, 5}; // 5 3 1
  ndfile::save(path, {item("x", ndfile::view(x))});
  CHECK(ndfile::load<float>(path, "x") == std::vector<float>({5, 3, 1}));
  THROWS(NDF_ERR_SHAPE, path, "\"x\"", file::open(path).array("x").read_into(ndfile::view(back)));
}

void test_groups() {
  const std::string path = in_folder("groups.zarr");
  {
    file f = file::create(path, {"zarr3"});
    f.add_group("a/b", R"({"k": 1})");
    f.add("a/x", ndfile::spec::of<float>({2})).write(std::vector<float>{1, 2});
    f.set_group_attrs_json("a", R"({"n": 2})");
    THROWS(NDF_ERR_NAME_EXISTS, path, "a", f.add_group("a/b"));
    f.close();
  }
  const file f = file::open(path);
  CHECK(f.groups() == std::vector<std::string>({"a", "a/b"}) && f.array("a/x").read<float>().back() == 2);
  CHECK(f.group_attrs_json("a/b") == R"({"k": 1})" && f.group_attrs_json("a") == R"({"n": 2})");
  THROWS(NDF_ERR_NAME, path, "none", f.group_attrs_json("none"));
}

void test_grids() {
  const std::string path = in_folder("grid.zarr");
  file f = file::create(path, {"zarr2"});
  ndfile::array a = f.add("", ndfile::spec::of<std::int32_t>({5, 4}).chunks({2, 3}));
  std::vector<std::int32_t> values(20);
  for (int i = 0; i < 20; i++) values[static_cast<std::size_t>(i)] = i;
  a.write(values);
  std::vector<extents> starts;
  std::int64_t sum = 0, rows = 0;
  for (const ndfile::box &b : a.each_chunk()) {
    starts.push_back(b.start);
    for (const std::int32_t v : a.read<std::int32_t>(b)) sum += v;
  }
  CHECK(starts == std::vector<extents>({{0, 0}, {0, 3}, {2, 0}, {2, 3}, {4, 0}, {4, 3}}) && sum == 190);
  for (const ndfile::box &b : a.each_block(2)) rows += b.count[0] * 10 + b.count[1];
  CHECK(rows == 24 + 24 + 14 && a.each_block(2).size() == 3);
  f.close();
  CHECK(ndfile::grid({}, {}).size() == 1 && ndfile::grid({0, 3}, {0, 3}).size() == 0);
}

void test_metadata() {
  const std::string path = in_folder("metadata.ds");
  const double one = 1;
  ndfile::write_options options;
  options.attrs = R"({"title": "two stations"})";
  ndfile::save(path,
               {item("t", ndfile::span(&one, 1), {1, 1}).dims({"sta\"tion\\\n", "\xc4\x8d" "as"}).attrs(R"({"units": "K", "big": NaN})"),
                item("u", ndfile::span(&one, 1)).extra(R"({".time": true})")},
               options);
  file f = file::open(path);
  CHECK(f.path() == path && f.format() == "ds" && f.kind() == ndfile::file_kind::dataset && f.size() == 2);
  CHECK((f.caps() & NDF_CAP_MASKED) != 0 && f.names() == std::vector<std::string>{"t", "u"} && f.name(1) == "u");
  CHECK(f.attrs_json() == options.attrs && f.array_at(0).attrs_json() == R"({"units": "K", "big": NaN})");
  CHECK(f.array("t").dims_json() == R"(["sta\"tion\\\n", "\u010das"])" && f.array("u").dims_json() == "null");
  CHECK(f.array("u").extra_json().rfind(R"({".time": true,)", 0) == 0);
  THROWS(NDF_ERR_BOUNDS, path, "2", f.array_at(2));
  THROWS(NDF_ERR_READ_ONLY, path, "", f.set_attrs_json("{}"));
  THROWS(NDF_ERR_READ_ONLY, path, "", f.array("t").set_attrs_json("{}"));
  THROWS(NDF_ERR_READ_ONLY, path, "", f.add("v", spec::of<int>({})));

  // A text that is longer than the first buffer, and names with a NUL.
  const std::string made = in_folder("made.ds"), title = "{\"title\": \"" + std::string(5000, 'x') + "\"}";
  file g = file::create(made);
  g.set_attrs_json(title);
  ndfile::array a = g.add("x", spec::of<double>({}).attrs("{}"));
  a.write(ndfile::span(&one, 1));
  a.set_attrs_json(R"({"units": "m"})");
  THROWS(NDF_ERR_ARGUMENT, "name", "NUL", g.add(std::string("a\0b", 3), spec::of<double>({})));
  THROWS(NDF_ERR_NAME_EXISTS, made, "\"x\"", g.add("x", spec::of<double>({})));
  g.close();
  CHECK(file::open(made).attrs_json() == title && file::open(made).array("x").attrs_json() == R"({"units": "m"})");
  THROWS(NDF_ERR_ARGUMENT, "NUL", "", ndfile::load(std::string("a\0b", 3)));
  THROWS(NDF_ERR_ARGUMENT, "NUL", "", ndfile::save(made, {item(std::string("a\0b", 3), texts{"a"})}));
  std::ofstream(in_folder("nul.ds"), std::ios::binary)
      << "ds-1.0\n{\"a\\u0000b\": {\".size\": [1], \".type\": \"int8\"}, \"c\": {\".size\": null, \".type\": \"int8\"}}\n\x05";
  const file n = file::open(in_folder("nul.ds"));
  CHECK(n.name(0) == std::string("a\0b", 3) && n.array(n.name(0)).read<int>() == std::vector<int>{5});
  THROWS(NDF_ERR_ARGUMENT, "NUL", "", n.array(std::string("a\0c", 3)));

  // Metadata without data.
  CHECK(!n.array("c").has_data());
  THROWS(NDF_ERR_NO_DATA, "nul.ds", "\"c\"", n.array("c").read<std::int8_t>());
  THROWS(NDF_ERR_NO_DATA, "nul.ds", "\"c\"", ndfile::load(n.path()).at("c").values<std::int8_t>());
}

void test_errors() {
  const std::string path = in_folder("nothing.ds");
  THROWS(NDF_ERR_NOT_FOUND, path, "", file::open(path));
  try {
    ndfile::load(path);
    CHECK(false);
  } catch (const std::runtime_error &e) { // what a caller who knows nothing of ndfile catches
    const auto &error = dynamic_cast<const ndfile::error &>(e);
    CHECK(error.os_error() == ENOENT && error.offset() == -1 && std::string(error.code_name()) == "NDF_ERR_NOT_FOUND");
  }
  const std::string bad = in_folder("bad.ds");
  std::ofstream(bad, std::ios::binary) << "ds-1.0\n{\"x\": {\".size\": [100], \".type\": \"int8\"}}\nshort";
  THROWS(NDF_ERR_CORRUPT, bad, "\"x\"", file::open(bad).array("x").read<std::int8_t>());
  THROWS(NDF_ERR_CORRUPT, bad, "\"x\"", ndfile::load(bad));
  THROWS(NDF_ERR_FORMAT, "x.unknown", "", ndfile::save(in_folder("x.unknown"), {}));
  THROWS(NDF_ERR_NAME, in_folder("memory.ds"), "\"other\"", file::open(in_folder("memory.ds")).array("other"));
  THROWS(NDF_ERR_NAME, in_folder("memory.ds"), "\"other\"", ndfile::load<int>(in_folder("memory.ds"), "other"));
  THROWS(NDF_ERR_NAME, in_folder("memory.ds"), "\"other\"", ndfile::load(in_folder("memory.ds")).at("other"));
  ndfile::open_options named, update;
  named.format = "nothing";
  update.update = true;
  THROWS(NDF_ERR_FORMAT, "nothing", "", file::open(in_folder("memory.ds"), named));
  THROWS(NDF_ERR_NOT_SUPPORTED, "memory.ds", "", file::open(in_folder("memory.ds"), update));
  ndfile::write_options exclusive;
  exclusive.exclusive = true;
  THROWS(NDF_ERR_EXISTS, "memory.ds", "", ndfile::save(in_folder("memory.ds"), {}, exclusive));
  CHECK(ndfile::detect(in_folder("memory.ds")) == "ds" && ndfile::version() == NDF_VERSION);
  const std::vector<ndfile::format_info> formats = ndfile::formats();
  CHECK(formats.size() > 0 && formats[0].name == "ds" && formats[0].extensions == ".ds" && (formats[0].caps & NDF_CAP_CREATE));
}

// Only close() makes a new file appear.
void test_lifetime() {
  const std::string path = in_folder("lifetime.ds");
  const std::vector<int> values = {1, 2, 3}, others = {4, 5, 6};
  const auto start = [&](const std::vector<int> &v) {
    file f = file::create(path);
    f.add("x", spec::of<int>({3})).write(v);
    return f;
  };
  start(values);
  CHECK(!exists(path));
  try {
    const file f = start(values);
    throw std::runtime_error("on the way");
  } catch (const std::runtime_error &) {
  }
  CHECK(!exists(path));
  file f = start(values);
  f.close();
  CHECK(ndfile::load<int>(path, "x") == values);
  start(others).abort();
  start(others);
  CHECK(ndfile::load<int>(path, "x") == values);
  f = start(others);
  f = start(others); // drops the one before
  f.close();
  CHECK(ndfile::load<int>(path, "x") == others);
  f = file::create(path);
  f.add("y", spec::of<int>({3}));
  THROWS(NDF_ERR_ORDER, path, "\"y\"", f.close());
  CHECK(!f && ndfile::load<int>(path, "x") == others);

  // An array keeps its file.
  ndfile::array x = file::open(path).array("x");
  CHECK(x.read<int>() == others);

  // Moved from and closed: harmless, and refused.
  f = file::open(path);
  file g = std::move(f);
  CHECK(g && !f && f.handle() == 0); // NOLINT: moved from on purpose
  f.close();
  f.abort();
  THROWS(NDF_ERR_HANDLE, "", "", f.size());
  THROWS(NDF_ERR_HANDLE, "", "", f.array("x"));
  ndfile::array y = std::move(x), z;
  CHECK(y && !x && !z); // NOLINT
  x.close();
  THROWS(NDF_ERR_HANDLE, "", "", x.shape());
  THROWS(NDF_ERR_HANDLE, "", "", z.read<int>());
  x = std::move(y);
  CHECK(x.read<int>() == others && !y); // NOLINT
  ndfile::array &self = x;
  x = std::move(self);
  CHECK(x.read<int>() == others);
  x.close();
  x.close();
  THROWS(NDF_ERR_HANDLE, "", "", x.read<int>());
  g.close();
  g.close();
  static_assert(!std::is_copy_constructible_v<file> && !std::is_copy_constructible_v<ndfile::array>);
  static_assert(!std::is_copy_constructible_v<ndfile::loaded_file>);
  static_assert(std::is_nothrow_move_constructible_v<file> && std::is_nothrow_move_assignable_v<file>);

  // A handle closed behind the back of its owner.
  f = file::open(path);
  CHECK(ndf_file_close(f.handle(), nullptr) == NDF_OK);
  THROWS(NDF_ERR_HANDLE, "closed", "", f.size());

  // Views follow the loaded file.
  ndfile::loaded_file one = ndfile::load(path);
  const ndfile::loaded_array a = one[0];
  const ndfile::loaded_file two = std::move(one);
  CHECK(one.empty() && one.find("x") == nullptr); // NOLINT
  CHECK(a.name() == "x" && a.values<int>()[2] == 6 && two.at("x").values<int>().data() == a.values<int>().data());
  THROWS(NDF_ERR_DTYPE, path, "\"x\"", a.values<double>());
  std::size_t seen = 0;
  for (const ndfile::loaded_array &each : two) seen += each.values<int>().size();
  CHECK(seen == 3);

  // More arrays and bytes than load has room for at first.
  const std::vector<double> many(5000, 1.5);
  std::vector<item> items;
  for (int i = 100; i < 120; i++) items.push_back(item("v" + std::to_string(i), many));
  ndfile::write_options options;
  options.direct = options.sync = true;
  ndfile::save(path, items, options);
  const ndfile::loaded_file all = ndfile::load(path);
  CHECK(all.size() == 20 && all.at("v119").values<double>()[4999] == 1.5 && all[0].name() == "v100");
  ndfile::save(path, {});
  CHECK(ndfile::load(path).empty());
}

void test_chunked() {
  const std::string path = in_folder("chunked.zarr");
  ndfile::write_options zarr;
  zarr.format = "zarr0";
  file f = file::create(path, zarr);
  const ndfile::compression lz4{"lz4", 4, NDF_BLOSC_BITSHUFFLE};
  THROWS(NDF_ERR_DTYPE, path, "fill value of f8", f.add("", spec::of<int>({5, 3}).fill(1.5)));
  THROWS(NDF_ERR_SHAPE, path, "chunks of 1 axes", f.add("", spec::of<int>({5, 3}).chunks({2})));
  ndfile::array a = f.add("", spec("i4", {5, 3}).chunks({2, 2}).compress(lz4).fill(-1).expected_rows(100));
  a.write(std::vector<int>{1, 2, 3}, {{0, 0}, {1, 3}});
  a.append(std::vector<int>{7, 8, 9, 10, 11, 12});
  a.append(std::array<short, 7>{1, 2, 3, 4, 5, 6, 7}, 1);
  CHECK(a.shape() == extents{7, 4});
  THROWS(NDF_ERR_SHAPE, path, "multiple of 4", a.append(std::vector<int>{1, 2, 3}));
  THROWS(NDF_ERR_BOUNDS, path, "axis 2 of 2", a.append(std::vector<int>{1}, 2));
  const int column[] = {70, 60, 50, 40, 30, 20, 10};
  a.append(ndfile::strided<const int>{column + 6, {7, 1}, {-4, 0}}, 1);
  a.resize({6, 5});
  f.close();

  f = file::open(path);
  a = f.array();
  CHECK(f.nrows() == -1 && a.chunks() == extents{2, 2} && a.fill<int>() == -1 && a.chunk_encoding() == "blosc1");
  const auto how = a.compression();
  CHECK(how && how->codec == "lz4" && how->level == 4 && how->shuffle == NDF_BLOSC_BITSHUFFLE);
  THROWS(NDF_ERR_DTYPE, path, "f4", a.fill<float>());
  CHECK(a.read<int>({{0, 0}, {2, 5}}) == std::vector<int>{1, 2, 3, 1, 10, -1, -1, -1, 2, 20});
  CHECK(a.read<int>({{5, 0}, {1, 5}}) == std::vector<int>{7, 8, 9, 6, 60});
  const std::vector<std::int64_t> rows = {5, 0, 5};
  CHECK(a.take<std::int64_t>(rows)[0] == 7 && a.take<int>(rows)[5] == 1 && a.take<int>(rows).size() == 15);
  THROWS(NDF_ERR_BOUNDS, path, "row 6 of 6", a.take<int>(std::vector<std::int64_t>{6}));
  const ndfile::summary s = a.reduce(NDF_REDUCE_SUM | NDF_REDUCE_MEAN, {{0, 0}, {1, 3}});
  CHECK(s.count == 3 && s.sum->as<std::int64_t>() == 6 && s.mean->as<double>() == 2 && !s.min && !s.max);
  THROWS(NDF_ERR_DTYPE, "a number of", "", s.sum->as<int>());

  // Chunks travel as they are.
  const std::string copy = in_folder("copy.zarr");
  file g = file::create(copy, zarr);
  ndfile::array b = g.add("", spec("i4", {6, 5}).chunks({2, 2}).fill(-1));
  for (std::int64_t i = 0; i < 3; i++)
    for (std::int64_t k = 0; k < 3; k++)
      if (const auto raw = a.read_chunk({i, k})) b.write_chunk({i, k}, *raw);
  CHECK(b.read<int>() == a.read<int>());
  THROWS(NDF_ERR_BOUNDS, path, "", a.read_chunk({3, 0}));
  g.close();
  f.close();
  THROWS(NDF_ERR_READ_ONLY, copy, "", file::open(copy).array().resize({1, 1}));
}

void test_table() {
  const std::string path = in_folder("table.bcolz");
  ndfile::write_options bcolz;
  bcolz.format = "bcolz";
  file f = file::create(path, bcolz);
  f.add("id", spec::of<std::int64_t>({0}).chunks({1000}));
  f.add("price", spec::of<double>({0}).chunks({1000}));
  f.add("gone", spec::of<bool>({0}));
  std::vector<std::int64_t> ids(5000);
  std::vector<double> prices(5000);
  const std::vector<bool> gone(5000);
  for (std::size_t i = 0; i < ids.size(); i++) ids[i] = static_cast<std::int64_t>(i), prices[i] = static_cast<double>(i % 10);
  f.append_rows({item("price", prices), item("gone", gone), item("id", ids)});
  THROWS(NDF_ERR_NAME, path, "price", f.append_rows({item("gone", gone), item("id", ids)}));
  CHECK(f.nrows() == 5000 && f.kind() == ndfile::file_kind::table);
  f.close();

  ndfile::open_options update;
  update.update = true;
  f = file::open(path, update);
  f.remove("gone");
  THROWS(NDF_ERR_NAME, "gone", "", f.remove("gone"));
  f.resize_rows(4000);
  f.flush();
  {
    const file other = file::open(path);
    CHECK(other.nrows() == 4000 && other.names() == std::vector<std::string>{"id", "price"});
    THROWS(NDF_ERR_READ_ONLY, path, "", file::open(path).flush());
  }
  f.close();

  f = file::open(path);
  CHECK(f.where({}).size() == 4000);
  CHECK(f.where({{"price", NDF_OP_EQ, "3"}, {"id", NDF_OP_LT, "30"}}) == std::vector<std::int64_t>{3, 13, 23});
  CHECK(f.where({{"price", NDF_OP_EQ, "3"}}, {10, 0, 1, 2}) == std::vector<std::int64_t>{23, 33});
  CHECK(f.where({}, {0, 0, 0, 2500}).size() == 2500);
  THROWS(NDF_ERR_NAME, "none", "", f.where({{"none", NDF_OP_EQ, "3"}}));
  CHECK(f.matching("(price == 3) & (id < 30) | id * 2 == 18", {0, 0, 0, 3}) == std::vector<std::int64_t>{3, 9, 13});
  THROWS(NDF_ERR_ARGUMENT, "", "", f.matching("price >"));

  ndfile::arrow_stream stream = f.arrow(std::vector<std::string>{"price"}, 3000), moved = std::move(stream);
  CHECK(stream.get()->release == nullptr);
  ndfile::arrow_stream all = f.arrow();
  all = std::move(moved);
  f.close();
  std::int64_t n = 0;
  for (ArrowArray batch; all.get()->get_next(all.get(), &batch) == 0 && batch.release != nullptr; batch.release(&batch)) {
    CHECK(batch.n_children == 1 && static_cast<const double *>(batch.children[0]->buffers[1])[7] == 7);
    n += batch.length;
  }
  CHECK(n == 4000);
  ArrowArrayStream given = all.release();
  given.release(&given);
  THROWS(NDF_ERR_NAME, path, "none", file::open(path).arrow(std::vector<std::string>{"none"}));
}

void test_whole_files() {
  const std::string path = in_folder("table.bcolz"), ds = in_folder("table.ds"), damaged = in_folder("damaged.bcolz");
  std::int64_t steps = 0;
  ndfile::convert_options to_ds;
  to_ds.progress = [&](std::int64_t done, std::int64_t total) { return steps++, done <= total; };
  ndfile::convert(path, ds, to_ds);
  CHECK(steps > 0 && ndfile::load<double>(ds, "price")[3999] == 9);
  THROWS(NDF_ERR_EXISTS, ds, "", ndfile::convert(path, ds));
  to_ds.overwrite = true;
  to_ds.progress = [](std::int64_t, std::int64_t) { return false; };
  THROWS(NDF_ERR_CANCELED, "", "", ndfile::convert(path, ds, to_ds));
  to_ds.progress = [](std::int64_t, std::int64_t) -> bool { throw std::out_of_range("mine"); };
  bool thrown = false;
  try {
    ndfile::convert(path, ds, to_ds);
  } catch (const std::out_of_range &) {
    thrown = true;
  }
  CHECK(thrown);

  CHECK(ndfile::verify(path).empty());
  std::filesystem::copy(path, damaged, std::filesystem::copy_options::recursive);
  std::ofstream(damaged + "/id/data/__0.blp") << "nonsense";
  const std::vector<ndfile::problem> problems = ndfile::verify(damaged);
  CHECK(problems.size() == 1 && problems[0].code == NDF_ERR_CORRUPT && problems[0].array == "id" && !problems[0].repaired);
  CHECK(problems[0].path.find("__0.blp") != std::string::npos && !problems[0].message.empty());
  ndfile::verify_options canceled;
  canceled.progress = [](std::int64_t, std::int64_t) { return false; };
  THROWS(NDF_ERR_CANCELED, "", "", ndfile::verify(path, canceled));

  const std::string one = in_folder("one.bcolz"), two = in_folder("two.bcolz"), joined = in_folder("joined.bcolz");
  ndfile::split(path, {{one, 1000}, {two, 3000}});
  CHECK(file::open(two).array("id").read<std::int64_t>({{0}, {1}})[0] == 1000);
  ndfile::split_options fresh;
  fresh.exclusive = true;
  ndfile::concat({one, two}, joined, fresh);
  CHECK(file::open(joined).array("price").read<double>() == file::open(path).array("price").read<double>());
  THROWS(NDF_ERR_EXISTS, joined, "", ndfile::concat({one, two}, joined, fresh));
  THROWS(NDF_ERR_SHAPE, path, "", ndfile::split(path, {{one, 1}, {two, 3999}}));
}

void test_many() {
  std::vector<ndfile::new_file> files;
  std::vector<std::string> paths;
  for (int i = 0; i < 3000; i++) {
    paths.push_back(in_folder("many" + std::to_string(i) + ".ds"));
    const std::size_t n = i == 7 ? 3000000 : static_cast<std::size_t>(i % 5);
    files.push_back({paths.back(), {item("t", std::vector<double>(n, i)).dims({"x"}), item("s", std::vector<std::string>{std::to_string(i)})}});
  }
  files[1].attrs = R"({"of": "its own"})";
  files[2].path = in_folder("none/x.ds");
  std::int64_t last = 0;
  ndfile::many_options many;
  many.progress = [&](std::int64_t done, std::int64_t total) {
    CHECK(done >= last && total == 3000);
    last = done;
    return true;
  };
  ndfile::write_options options;
  options.attrs = R"({"of": "all"})";
  const auto written = ndfile::save_many(files, options, many);
  CHECK(last == 3000 && written.size() == 3000 && written[2] && written[2]->code() == NDF_ERR_NOT_FOUND);
  CHECK(std::count_if(written.begin(), written.end(), [](const auto &e) { return e.has_value(); }) == 1);
  CHECK(file::open(paths[1]).attrs_json().find("its own") != std::string::npos && file::open(paths[3]).attrs_json().find("all") != std::string::npos);

  last = 0;
  auto read = ndfile::load_many(paths, many);
  CHECK(last == 3000 && read.size() == 3000 && !read[2] && read[2].error()->code() == NDF_ERR_NOT_FOUND);
  THROWS(NDF_ERR_NOT_FOUND, paths[2], "", read[2].value());
  const ndfile::result kept = std::move(read[7]); // its memory is shared with others, which are gone
  read.erase(read.begin() + 5, read.end());
  CHECK(kept->at("t").values<double>()[2999999] == 7 && *kept->at("s").strings()[0] == "7" && read[4]->at("t").size() == 4);

  many.name = "s";
  many.progress = [&](std::int64_t done, std::int64_t) { return done < 2000; };
  read = ndfile::load_many(paths, many);
  CHECK(read[0] && read[0]->size() == 1 && !read[2999] && read[2999].error()->code() == NDF_ERR_CANCELED);
  many.progress = [](std::int64_t, std::int64_t) -> bool { throw std::out_of_range("mine"); };
  bool thrown = false;
  try {
    ndfile::load_many(paths, many);
  } catch (const std::out_of_range &) {
    thrown = true;
  }
  CHECK(thrown && ndfile::load_many({}).empty() && ndfile::save_many({}).empty());
  files.resize(1);
  files[0].items.push_back(item("wrong", std::vector<int>{1, 2}, {3}));
  files[0].path = in_folder("wrong.ds");
  THROWS(NDF_ERR_SHAPE, files[0].path, "wrong", ndfile::save_many(files));
  CHECK(!std::filesystem::exists(files[0].path));
  for (const std::string &path : paths) std::filesystem::remove(path);
}

void test_blosc() {
  std::vector<float> values(100000);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(i % 100);
  for (const char *codec : {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"}) {
    ndfile::blosc::options how;
    how.codec = codec;
    how.threads = 2;
    const std::vector<std::uint8_t> chunk = ndfile::blosc::compress(values, how);
    CHECK(chunk.size() < 200000 && ndfile::blosc::info(chunk).typesize == 4 && ndfile::blosc::info(chunk).nbytes == 400000);
    CHECK(ndfile::blosc::decompress<float>(chunk) == values);
  }
  const std::vector<std::uint8_t> chunk = ndfile::blosc::compress(std::vector<std::uint8_t>{1, 2, 3});
  CHECK((ndfile::blosc::decompress<std::uint8_t>(chunk, 2) == std::vector<std::uint8_t>{1, 2, 3}));
  CHECK(ndfile::blosc::decompress<double>(ndfile::blosc::compress(std::vector<double>{})).empty());
  THROWS(NDF_ERR_DTYPE, "", "3 bytes", ndfile::blosc::decompress<float>(chunk));
  THROWS(NDF_ERR_CORRUPT, "", "", ndfile::blosc::decompress<std::uint8_t>(ndfile::span(chunk.data(), chunk.size() - 1)));
  ndfile::blosc::options wrong;
  wrong.codec = "none";
  THROWS(NDF_ERR_ARGUMENT, "", "none", ndfile::blosc::compress(values, wrong));
}

struct unknown {
  int a;
};
static_assert(ndfile::is_element<double> && !ndfile::is_element<unknown> && !ndfile::is_element<std::string>);
#if __cplusplus >= 202002L
template <class T>
constexpr bool loads = requires { ndfile::load<T>(""); };
static_assert(loads<float> && !loads<unknown> && !loads<std::string>); // an unmet constraint, no error in the depth
#endif

void test_threads() {
  const std::string path = in_folder("threads.ds");
  std::vector<int> numbers(1000);
  texts names(1000);
  for (int i = 0; i < 1000; i++) {
    numbers[static_cast<std::size_t>(i)] = i;
    if (i % 3) names[static_cast<std::size_t>(i)] = std::to_string(i);
  }
  ndfile::save(path, {item("n", numbers), item("s", names)});
  const file f = file::open(path);
  const ndfile::array n = f.array("n"), s = f.array("s");
  std::vector<std::thread> threads;
  for (int id = 0; id < 8; id++)
    threads.emplace_back([&, id] {
      const std::string own = in_folder("thread" + std::to_string(id) + ".ds");
      for (int i = 0; i < 100; i++) {
        const std::int64_t at = (id * 37 + i * 5) % 990;
        const auto from = static_cast<std::size_t>(at);
        CHECK(n.read<std::int64_t>({{at}, {10}}) == std::vector<std::int64_t>(numbers.begin() + at, numbers.begin() + at + 10));
        CHECK(s.read_strings({{at}, {2}, {3}}) == texts{names[from], names[from + 3]});
        CHECK(f.array("n").read<int>() == numbers && f.names().size() == 2);
        ndfile::save(own, {item("x", ndfile::span(&at, 1))});
        CHECK(ndfile::load<std::int64_t>(own, "x")[0] == at);
        THROWS(NDF_ERR_NAME, own, "", ndfile::load<int>(own, "y"));
      }
    });
  for (std::thread &t : threads) t.join();
}

std::vector<float> made(float value) { return std::vector<float>(2000, value); }

/// Items of temporaries, of what is moved and of views, when their memory has been used for something else since.
void test_temporaries() {
  const std::string path = folder + "/temporary.ds";
  auto held = made(2.5f);
  auto named = made(3.5f);
  const std::array<std::int16_t, 3> three = {1, 2, 3};
  std::vector<ndfile::item> items;
  items.emplace_back("direct", std::vector<float>(2000, 1.5f), ndfile::extents{2000});
  items.push_back(ndfile::item("called", made(1.5f)).mask(std::vector<std::uint8_t>(2000, 1)).dims({"x"}));
  items.push_back(ndfile::item("moved", std::move(held), {20, 100}));
  items.push_back(ndfile::item("named", named));
  items.push_back(ndfile::item("constant", std::as_const(named), {2000}));
  items.push_back(ndfile::item("array", std::array<std::int16_t, 3>{1, 2, 3}));
  items.push_back(ndfile::item("view", ndfile::span<const std::int16_t>(three)));
  items.push_back(ndfile::item("texts", std::vector<std::string>{"a text that is on the heap for sure", "b"}));
  items.push_back(ndfile::item("views", std::vector<std::string_view>{"c", "d"}));
  items.push_back(ndfile::item("flags", std::vector<bool>{true, false, true}));
  items.push_back(ndfile::item("strided", ndfile::strided<float>{named.data(), {1000}, {8}}));
  ndfile::strided<const float> view{named.data(), {2}, {4}};
  items.push_back(ndfile::item("another strided", view));
  held = std::vector<float>();
  std::vector<ndfile::item> copies = items;
  items.clear();
  std::vector<std::vector<float>> next;
  for (int i = 0; i < 20; i++) next.push_back(made(-1));
  named[1] = 4.5f; // which the item sees: it has no copy
  ndfile::save(path, copies);
  CHECK(ndfile::load<float>(path, "direct")[1999] == 1.5f);
  CHECK(ndfile::load<float>(path, "moved")[1999] == 2.5f);
  CHECK(ndfile::load<float>(path, "named")[0] == 3.5f && ndfile::load<float>(path, "named")[1] == 4.5f);
  CHECK(ndfile::load<float>(path, "constant")[1] == 4.5f);
  CHECK(ndfile::load<std::int16_t>(path, "array")[2] == 3 && ndfile::load<std::int16_t>(path, "view")[2] == 3);
  CHECK(ndfile::load<float>(path, "strided").size() == 1000 && ndfile::load<float>(path, "another strided")[1] == 4.5f);
  const ndfile::loaded_file all = ndfile::load(path);
  for (std::size_t i = 0; i < all.size(); i++) {
    if (all[i].name() == "called")
      for (std::uint8_t m : all[i].mask()) CHECK(m == 1);
    if (all[i].name() == "texts") CHECK(*all[i].strings()[0] == "a text that is on the heap for sure");
    if (all[i].name() == "views") CHECK(*all[i].strings()[1] == "d");
    if (all[i].name() == "flags") CHECK(all[i].values<bool>()[0] && !all[i].values<bool>()[1]);
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  folder = std::string(argv[1]) + "/cpp_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  try {
    test_dtypes();
    test_dtype_names();
    test_conversion();
    test_composite();
    test_trailing();
    test_map();
    test_strings();
    test_memory();
    test_views();
    test_grids();
    test_groups();
    test_metadata();
    test_errors();
    test_lifetime();
    test_temporaries();
    test_threads();
    test_many();
    test_blosc();
    test_chunked();
    test_table();
    test_whole_files();
  } catch (const std::exception &e) {
    std::fprintf(stderr, "cpp_test: %s\n", e.what());
    failures++;
  }
  std::int64_t open = -1;
  CHECK(ndf_handle_count(&open, nullptr) == NDF_OK && open == 0);
  if (failures > 0) {
    std::fprintf(stderr, "cpp_test: %d checks failed\n", failures.load());
    return 1;
  }
  std::printf("cpp_test: ok\n");
  return 0;
}
