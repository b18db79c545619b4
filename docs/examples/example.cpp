// Writes a small file, reads it back. c++ -std=c++17 example.cpp -lndfile
#include <ndfile.hpp>

#include <iostream>

int main() try {
  const std::vector<float> t = {271.25f, 0, 272.5f, 268, 269.75f, 270.5f}; // 2 stations x 3 days, one value missing
  const std::vector<std::uint8_t> missing = {0, 1, 0, 0, 0, 0};
  ndfile::save("example.ds", {ndfile::item("t", t, {2, 3}).mask(missing).dims({"station", "time"}).attrs(R"({"units": "K"})"),
                              ndfile::item("station", std::vector<std::string>{"Praha", "Oslo"}).dims({"station"})});

  const ndfile::file f = ndfile::file::open("example.ds");
  const ndfile::array a = f.array("t");                                     // nothing is read yet
  const std::vector<double> last_day = a.read<double>({{0, 2}, {2, 1}});    // start and count along each axis
  const ndfile::masked<float> all = a.read_masked<float>();                 // values, and which are missing
  const auto stations = f.array("station").read_strings();                  // std::optional: texts can be missing, too
  for (std::size_t i = 0; i < stations.size(); i++) std::cout << *stations[i] << ": " << last_day[i] << " K\n";
  std::cout << (all.mask[1] ? "day 2 of Praha is missing\n" : "");
} catch (const ndfile::error &e) {
  std::cerr << e.what() << " (" << e.code_name() << ")\n";
  return 1;
}
