#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/tests/devices.h>

// Shared by the tests of gradients that wait for relu's backward.
namespace halfgrad::detail {

using Bits = std::vector<std::uint64_t>;

// The elements as bit patterns: -0 differs from 0, and every NaN is the same.
inline Bits bits(const Tensor& t) {
  Bits all;
  for (const double x : t.to_vector<double>()) {
    all.push_back(std::isnan(x) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x));
  }
  return all;
}

class PendingProductTest : public OnDevice {
 protected:
  Tensor random(const Shape& sizes, DType dtype = kFloat) const {
    return randn(sizes).to(dtype).to(device());
  }
  Tensor parameter(const Shape& sizes, DType dtype) const {
    return random(sizes, dtype).requires_grad_();
  }
  Tensor values(const std::vector<double>& row, DType dtype) const {
    return tensor_of(row).to(dtype).to(device());
  }

  static constexpr std::int64_t kRows = 8, kWidth = 16;
  static constexpr double kInf = std::numeric_limits<double>::infinity();

  static Tensor tensor_of(const std::vector<double>& row) {
    Tensor t(Array::empty({1, std::ssize(row)}, kDouble));
    std::copy(row.begin(), row.end(), t.data_ptr<double>());
    return t;
  }
};

}  // namespace halfgrad::detail
