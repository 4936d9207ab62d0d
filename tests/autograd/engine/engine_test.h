#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

// Helpers of the tests of the graph.
namespace halfgrad {

inline Tensor leaf(const Shape& sizes, double value, DType dtype = kFloat, Device device = {}) {
  Tensor tensor(Array::full(sizes, value, dtype, device));
  return tensor.requires_grad_();
}

/// A float64 leaf [n] with these values.
inline Tensor vector_leaf(const std::vector<double>& values) {
  return tensor_of(values, {std::ssize(values)}).requires_grad_();
}

/// A test whose leaves are on its device.
class GraphOnDevice : public OnDevice {
 protected:
  Tensor full(const Shape& sizes, double value, DType dtype = kFloat) const {
    return Tensor(Array::full(sizes, value, dtype, device()));
  }
  Tensor leaf(const Shape& sizes, double value, DType dtype = kFloat) const {
    return halfgrad::leaf(sizes, value, dtype, device());
  }
};

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "in: " << text;
}

}  // namespace halfgrad
