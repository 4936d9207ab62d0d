#pragma once

#include <gtest/gtest.h>

#include <string>

#include <halfgrad/autograd/tensor.h>

// What the tests of the graph share.
namespace halfgrad {

inline Tensor leaf(const Shape& sizes, double value, DType dtype = kFloat) {
  Tensor tensor(Array::full(sizes, value, dtype));
  return tensor.requires_grad_();
}

/// The message of the exception `f` throws, or "" if it throws none.
template <class F>
std::string message_of(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

inline void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "in: " << text;
}

}  // namespace halfgrad
