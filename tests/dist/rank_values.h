#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/dist/communicator.h>

/// Elements that differ from rank to rank, and what a reduction must make of them.
namespace halfgrad::dist {

/// Element i of rank r: mostly of magnitude 1e-3 to 1e3, every 11th an edge value.
template <class T>
T value_of(int rank, std::int64_t i) {
  std::uint64_t hash = (static_cast<std::uint64_t>(i) * 31 + rank + 1) * 0x9e3779b97f4a7c15u;
  hash ^= hash >> 29;
  if constexpr (std::same_as<T, bool>) {
    return hash % 5 == 0;
  } else if constexpr (std::integral<T>) {
    return static_cast<T>(hash);
  } else {
    const float edges[] = {INFINITY, -INFINITY, NAN, -0.0f, 0.0f, 1e-45f, 6e-8f, 65504.0f, -3e38f};
    if (hash % 11 == 0) return T(edges[hash / 11 % 9]);
    const double x = static_cast<double>(hash % 20000) - 10000;
    return T(static_cast<float>(x * std::pow(10.0, static_cast<double>(hash / 7 % 7) - 7)));
  }
}

template <class T>
Array values_of(int rank, std::int64_t n, std::int64_t begin = 0) {
  const Array array = Array::empty({n}, dtype_of<T>());
  for (std::int64_t i = 0; i < n; ++i) array.data_as<T>()[i] = value_of<T>(rank, begin + i);
  return array;
}

/// The result of op for element i of `ranks` ranks: one addition after another, then one rounding.
template <class T>
T expected_of(ReduceOp op, int ranks, std::int64_t i) {
  if (ranks == 1) return value_of<T>(0, i);
  if constexpr (std::same_as<T, bool>) {
    bool any = false;
    for (int r = 0; r < ranks; ++r) any = any || value_of<T>(r, i);
    return any;
  } else if constexpr (std::integral<T>) {
    T result = value_of<T>(0, i);
    for (int r = 1; r < ranks; ++r) {
      const T x = value_of<T>(r, i);
      if (op != ReduceOp::max) {
        result = static_cast<T>(static_cast<std::uint64_t>(result) + static_cast<std::uint64_t>(x));
      } else if (x > result) {
        result = x;
      }
    }
    return result;
  } else {
    using Sum = compute_t<T>;
    auto result = static_cast<Sum>(value_of<T>(0, i));
    for (int r = 1; r < ranks; ++r) {
      const auto x = static_cast<Sum>(value_of<T>(r, i));
      if (op == ReduceOp::max) {
        result = std::isnan(result) || std::isnan(x) ? static_cast<Sum>(NAN) : std::fmax(result, x);
      } else {
        result = result + x;
      }
    }
    if (op == ReduceOp::average) result = result / static_cast<Sum>(ranks);
    return T(result);
  }
}

/// True for equal bits, and for two NaNs. fmax does not say which zero is larger.
template <class T>
bool same_element(T x, T y) {
  if (std::memcmp(&x, &y, sizeof(T)) == 0) return true;
  if constexpr (std::integral<T>) {
    return false;
  } else {
    const auto a = static_cast<double>(static_cast<compute_t<T>>(x));
    const auto b = static_cast<double>(static_cast<compute_t<T>>(y));
    return (std::isnan(a) && std::isnan(b)) || (a == 0 && b == 0);
  }
}

}  // namespace halfgrad::dist
