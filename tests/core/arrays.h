#pragma once

#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/array.h>

/// Arrays with known values, for tests.
namespace halfgrad {

/// Returns 0, 1, 2, ... in row-major order, on the CPU.
inline Array counting(const Shape& sizes, DType dtype = kFloat) {
  const Array source = Array::empty(sizes, kDouble);
  std::iota(source.data_as<double>(), source.data_as<double>() + source.numel(), 0.0);
  return source.to(dtype);
}

/// Returns the elements in row-major order.
inline std::vector<double> values(const Array& array) {
  const Array flat = array.to(kDouble).contiguous();
  return {flat.data_as<double>(), flat.data_as<double>() + flat.numel()};
}

/// Returns signalling NaNs (quiet bit not set) with different payloads, on the CPU.
inline Array signalling_nans(const Shape& sizes, DType dtype) {
  const Array x = Array::full(sizes, std::numeric_limits<double>::infinity(), dtype);
  const auto step = static_cast<std::size_t>(item_size(dtype));
  for (std::size_t i = 0; i < static_cast<std::size_t>(x.numel()); ++i) {
    x.data()[i * step] |=
        static_cast<std::byte>(1 + i % 63);  // sets the lowest bits of the fraction
  }
  return x;
}

inline void expect_same_bits(const Array& a, const Array& b) {
  const Array x = a.to(Device()).contiguous(), y = b.to(Device()).contiguous();
  ASSERT_EQ(x.sizes(), y.sizes());
  ASSERT_EQ(x.dtype(), y.dtype());
  const auto bytes = static_cast<std::size_t>(x.numel() * item_size(x.dtype()));
  EXPECT_EQ(std::memcmp(x.data(), y.data(), bytes), 0);
}

}  // namespace halfgrad
