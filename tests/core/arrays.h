#pragma once

#include <cstring>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/array.h>

/// Arrays of known numbers, and their numbers.
namespace halfgrad {

/// 0, 1, 2, ... in row-major order, on the CPU.
inline Array counting(const Shape& sizes, DType dtype = kFloat) {
  const Array source = Array::empty(sizes, kDouble);
  std::iota(source.data_as<double>(), source.data_as<double>() + source.numel(), 0.0);
  return source.to(dtype);
}

/// The elements in row-major order.
inline std::vector<double> values(const Array& array) {
  const Array flat = array.to(kDouble).contiguous();
  return {flat.data_as<double>(), flat.data_as<double>() + flat.numel()};
}

inline void expect_same_bits(const Array& a, const Array& b) {
  const Array x = a.to(Device()).contiguous(), y = b.to(Device()).contiguous();
  ASSERT_EQ(x.sizes(), y.sizes());
  ASSERT_EQ(x.dtype(), y.dtype());
  const auto bytes = static_cast<std::size_t>(x.numel() * item_size(x.dtype()));
  EXPECT_EQ(std::memcmp(x.data(), y.data(), bytes), 0);
}

}  // namespace halfgrad
