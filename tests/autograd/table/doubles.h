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

/// Returns the elements in row-major order.
inline Doubles elements(const Tensor& t) { return t.to_vector<double>(); }

inline Tensor elements(const Doubles& values, DType dtype = kFloat64) {
  return tensor_of(values, {std::ssize(values)}).to(dtype);
}

/// A test whose tensors are on its device.
class TensorsOnDevice : public OnDevice {
 protected:
  Tensor elements(const Doubles& values, DType dtype = kFloat64) const {
    return halfgrad::elements(values, dtype).to(device());
  }
  static Doubles elements(const Tensor& t) { return halfgrad::elements(t); }
  CreationOptions in(DType dtype) const { return {.dtype = dtype, .device = device()}; }
};

/// Compares exactly, except that NaN equals NaN.
inline void expect_values(const Tensor& actual, const Doubles& expected) {
  EXPECT_EQ(worst_error(actual.to(kFloat64), elements(expected)).roundoffs, 0)
      << ::testing::PrintToString(actual.to_vector<double>()) << ", expected "
      << ::testing::PrintToString(expected);
}

}  // namespace halfgrad
