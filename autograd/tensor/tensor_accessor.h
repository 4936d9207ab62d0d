#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <halfgrad/core/language.h>

namespace halfgrad {

/// Access to elements by their indices, without checks. Tensor::accessor returns it.
///
///   auto a = x.accessor<float, 2>();
///   for (std::int64_t i = 0; i < a.size(0); ++i) total += a[i][0];
template <class T, std::size_t N>
class TensorAccessor {
  static_assert(N > 0, "accessor: expected N > 0; for a 0-dimensional tensor use item()");

 public:
  /// Copies N sizes and N strides. Strides count elements.
  TensorAccessor(T* data, const std::int64_t* sizes, const std::int64_t* strides) : data_(data) {
    std::copy_n(sizes, N, sizes_.begin());
    std::copy_n(strides, N, strides_.begin());
  }

  /// An element, or an accessor of one dimension less.
  decltype(auto) operator[](std::int64_t i) const {
    if constexpr (N == 1) {
      return (data_[i * strides_[0]]);
    } else {
      return TensorAccessor<T, N - 1>(data_ + i * strides_[0], &sizes_[1], &strides_[1]);
    }
  }

  std::int64_t size(std::size_t dim) const { return sizes_[dim]; }
  std::int64_t stride(std::size_t dim) const { return strides_[dim]; }
  std::span<const std::int64_t, N> sizes() const { return sizes_; }
  std::span<const std::int64_t, N> strides() const { return strides_; }
  T* data() const { return data_; }

 private:
  T* data_;
  std::array<std::int64_t, N> sizes_, strides_;
};

}  // namespace halfgrad
