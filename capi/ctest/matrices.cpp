// Arrays in matrices of Eigen and arrays of xtensor, and back. Usage: matrices FOLDER
#include <Eigen/Dense>
#include <cstdio>
#include <string>
#include <xtensor/xarray.hpp>
#include <xtensor/xview.hpp>

#include "ndfile.hpp"

#define CHECK(condition)                                                                       \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      failures++;                                                                              \
      std::fprintf(stderr, "matrices.cpp:%d: not true: %s\n", __LINE__, #condition);           \
    }                                                                                          \
  } while (0)

int main(int argc, char **argv) try {
  int failures = 0;
  const std::string path = std::string(argc > 1 ? argv[1] : ".") + "/matrices.ds";
  Eigen::MatrixXd m(2, 3); // its columns follow each other
  m << 1, 2, 3, 4, 5, 6;
  xt::xarray<float> x = {{1, 2}, {3, 4}, {5, 6}};
  auto column = xt::view(x, xt::all(), 1);
  ndfile::save(path, {ndfile::item("m", ndfile::view(m)), ndfile::item("block", ndfile::view(m.block(0, 1, 2, 2))),
                      ndfile::item("x", ndfile::view(x)), ndfile::item("column", ndfile::view(column))});

  const ndfile::file f = ndfile::file::open(path);
  CHECK((f.array("m").read<double>() == std::vector<double>{1, 2, 3, 4, 5, 6}));
  CHECK((f.array("block").read<double>() == std::vector<double>{2, 3, 5, 6}));
  CHECK((f.array("column").read<float>() == std::vector<float>{2, 4, 6}));
  Eigen::MatrixXd back(2, 3);
  f.array("m").read_into(ndfile::view(back));
  CHECK(back == m);
  Eigen::Matrix<double, 3, 3, Eigen::RowMajor> part = decltype(part)::Zero();
  f.array("m").read_into(ndfile::view(part.block(1, 1, 2, 2)), {{0, 1}, {2, 2}});
  CHECK(part(1, 1) == 2 && part(2, 2) == 6 && part(0, 0) == 0);
  xt::xarray<float> y = xt::zeros<float>({3, 2});
  f.array("x").read_into(ndfile::view(y));
  CHECK(y == x);
  std::puts(failures ? "matrices: failed" : "matrices: ok");
  return failures != 0;
} catch (const std::exception &e) {
  std::fprintf(stderr, "matrices: %s\n", e.what());
  return 1;
}
