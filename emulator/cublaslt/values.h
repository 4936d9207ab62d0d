#pragma once

#include <cstdint>
#include <vector>

namespace halfgrad::emulator {

/// A matrix of doubles, column-major and dense: what a product computes with.
struct Values {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> elements;

  Values() = default;
  Values(std::int64_t rows, std::int64_t columns)
      : rows(rows), columns(columns), elements(static_cast<std::size_t>(rows * columns)) {}
  double* column(std::int64_t j) { return elements.data() + j * rows; }
  const double* column(std::int64_t j) const { return elements.data() + j * rows; }
  double& at(std::int64_t i, std::int64_t j) { return column(j)[i]; }
  double at(std::int64_t i, std::int64_t j) const { return column(j)[i]; }
};

/// The product of an m x k and a k x n matrix. Sums are doubles, in order of k within blocks of
/// 512; so products and sums of 16-bit and smaller types are as good as exact, and every call with
/// the same shapes gives the same bits. Uses `threads` host threads for large products (0: one a
/// core).
Values multiply(const Values& a, const Values& b, unsigned threads);

}  // namespace halfgrad::emulator
