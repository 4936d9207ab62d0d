#pragma once

#include <gtest/gtest.h>

#include <string>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/tests/message_of.h>

// What the tests of the graph share.
namespace halfgrad {

inline Tensor leaf(const Shape& sizes, double value, DType dtype = kFloat) {
  Tensor tensor(Array::full(sizes, value, dtype));
  return tensor.requires_grad_();
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "in: " << text;
}

}  // namespace halfgrad
