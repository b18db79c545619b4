// Prints what files hold through ndfile.hpp, as fixtures.c does through ndfile.h: the two must print the same.
// Usage: cpp_fixtures PATH...
//
// Numbers are read into memory of their C++ type, by array::read_masked and by load; the two must agree.
#include <ndfile.hpp>

#include <cstdio>

namespace {

int failures = 0;

void check(bool ok, const std::string &path, const char *what) {
  if (ok) return;
  failures++;
  std::fprintf(stderr, "%s: %s\n", path.c_str(), what);
}

std::string hex(std::string_view bytes) {
  std::string out;
  char digits[3];
  for (const char c : bytes) {
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    out += digits;
  }
  return out;
}

// The elements as bytes, none where they are missing.
using elements = std::vector<std::optional<std::string>>;

template <class T>
elements numbers(const ndfile::array &array, const ndfile::loaded_array &loaded) {
  const ndfile::masked<T> read = array.read_masked<T>();
  const ndfile::span<const T> values = loaded.values<T>();
  check(values.size() == read.values.size(), array.dtype(), "load gives another number of elements");
  elements out(values.size());
  for (std::size_t i = 0; i < out.size(); i++) {
    const T value = read.values[i];
    const std::string_view bytes(reinterpret_cast<const char *>(&value), sizeof value);
    check(std::memcmp(&value, &values[i], sizeof value) == 0, array.dtype(), "load gives another element");
    check(loaded.mask().empty() ? read.mask[i] == 0 : read.mask[i] == loaded.mask()[i], array.dtype(), "load gives another mask");
    if (!read.mask[i]) out[i] = bytes;
  }
  return out;
}

elements strings(const ndfile::array &array, const ndfile::loaded_array &loaded) {
  elements out = array.read_strings();
  const auto views = loaded.strings();
  check(std::equal(out.begin(), out.end(), views.begin(), views.end()), array.dtype(), "load gives other texts");
  return out;
}

// Elements that have no type in C++.
elements opaque(const ndfile::loaded_array &loaded) {
  elements out(static_cast<std::size_t>(loaded.size()));
  const auto size = static_cast<std::size_t>(loaded.itemsize());
  for (std::size_t i = 0; i < out.size(); i++) {
    const auto *bytes = reinterpret_cast<const char *>(loaded.bytes().data()) + i * size;
    if (loaded.mask().empty() || !loaded.mask()[i]) out[i].emplace(bytes, size);
  }
  return out;
}

elements read(const ndfile::array &array, const ndfile::loaded_array &loaded) {
  if (array.is_strings()) return strings(array, loaded);
  const std::string type = array.dtype().substr(1); // without byte order
  if (type == "b1") return numbers<bool>(array, loaded);
  if (type == "i1") return numbers<std::int8_t>(array, loaded);
  if (type == "u1") return numbers<std::uint8_t>(array, loaded);
  if (type == "i2") return numbers<std::int16_t>(array, loaded);
  if (type == "u2") return numbers<std::uint16_t>(array, loaded);
  if (type == "i4") return numbers<std::int32_t>(array, loaded);
  if (type == "u4") return numbers<std::uint32_t>(array, loaded);
  if (type == "i8") return numbers<std::int64_t>(array, loaded);
  if (type == "u8") return numbers<std::uint64_t>(array, loaded);
  if (type == "f4") return numbers<float>(array, loaded);
  if (type == "f8") return numbers<double>(array, loaded);
  if (type == "c8") return numbers<std::complex<float>>(array, loaded);
  if (type == "c16") return numbers<std::complex<double>>(array, loaded);
  return opaque(loaded);
}

// Whether the array takes 1 GiB or more.
bool is_huge(const std::string &path, const std::string &name) {
  ndf_load_info info;
  info.struct_size = sizeof info;
  ndf_error err;
  std::int64_t need = 0, n = 1;
  const std::int32_t status = ndf_load(path.c_str(), name.c_str(), nullptr, &need, &info, &n, &err);
  return status == NDF_ERR_BUFFER && need >= std::int64_t{1} << 30;
}

void dump_array(const ndfile::file &file, const std::string &name) {
  const ndfile::array array = file.array(name);
  if (!array.has_data()) {
    std::printf("nodata %s\n", hex(name).c_str());
    return;
  }
  std::string head;
  for (const std::int64_t n : array.shape()) head += (head.empty() ? "" : ",") + std::to_string(n);
  head = hex(name) + " " + array.dtype() + " (" + head + ")";
  if (is_huge(file.path(), name)) {
    std::printf("huge %s\n", head.c_str());
    return;
  }
  const ndfile::loaded_file loaded = ndfile::load(file.path(), name);
  const elements all = read(array, loaded.at(name));
  std::printf("array %s %s\n", head.c_str(), array.is_masked() ? "masked" : "plain");
  for (const auto &element : all) std::printf("%s\n", element ? hex(*element).c_str() : "-");
}

void dump(const std::string &path) {
  std::printf("file %s\n", path.c_str());
  try {
    const ndfile::file file = ndfile::file::open(path);
    for (const std::string &name : file.names()) dump_array(file, name);
  } catch (const ndfile::error &e) {
    std::printf("error %s %s\n", e.code_name(), e.what());
  }
}

} // namespace

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) dump(argv[i]);
  return failures > 0;
}
