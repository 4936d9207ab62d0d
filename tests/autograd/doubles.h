#pragma once

#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/ulp.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Doubles = std::vector<double>;

/// The elements in row-major order.
inline Doubles numbers(const Tensor& t) { return t.to_vector<double>(); }

inline Tensor numbers(const Doubles& values, DType dtype = kFloat64) {
  return tensor_of(values, {std::ssize(values)}).to(dtype);
}

/// A test whose tensors lie on its device.
class NumbersOnDevice : public OnDevice {
 protected:
  Tensor numbers(const Doubles& values, DType dtype = kFloat64) const {
    return halfgrad::numbers(values, dtype).to(device());
  }
  static Doubles numbers(const Tensor& t) { return halfgrad::numbers(t); }
  CreationOptions in(DType dtype) const { return {.dtype = dtype, .device = device()}; }
};

/// NaN equals NaN here.
inline void expect_numbers(const Tensor& actual, const Doubles& expected) {
  EXPECT_EQ(worst_error(actual.to(kFloat64), numbers(expected)).roundoffs, 0)
      << ::testing::PrintToString(actual.to_vector<double>()) << ", expected "
      << ::testing::PrintToString(expected);
}

}  // namespace halfgrad
