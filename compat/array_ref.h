#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {

/// libtorch's view of elements that somebody else owns: a vector, an array, a list or one value. It
/// must not outlive them.
template <class T>
class ArrayRef {
 public:
  using value_type = T;
  using size_type = std::size_t;
  using iterator = const T*;
  using const_iterator = const T*;

  constexpr ArrayRef() = default;
  constexpr ArrayRef(const T& value) : data_(&value), size_(1) {}
  constexpr ArrayRef(const T* data, std::size_t size) : data_(data), size_(size) {}
  constexpr ArrayRef(const T* first, const T* last)
      : data_(first), size_(static_cast<std::size_t>(last - first)) {}
  ArrayRef(const std::vector<T>& values) : data_(values.data()), size_(values.size()) {}
  template <std::size_t N>
  constexpr ArrayRef(const std::array<T, N>& values) : data_(values.data()), size_(N) {}
  template <std::size_t N>
  constexpr ArrayRef(const T (&values)[N]) : data_(values), size_(N) {}
  constexpr ArrayRef(const std::initializer_list<T>& values)
      : data_(values.begin()), size_(values.size()) {}

  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }
  constexpr const T* data() const { return data_; }
  constexpr std::size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](std::size_t i) const { return data_[i]; }
  /// Throws std::out_of_range.
  const T& at(std::size_t i) const {
    if (i < size_) return data_[i];
    detail::fail<std::out_of_range>("ArrayRef", "expected an index in [0, {}), got {}", size_, i);
  }
  const T& front() const { return at(0); }
  const T& back() const { return at(size_ - 1); }
  ArrayRef slice(std::size_t first, std::size_t count) const {
    if (first + count > size_) {
      detail::fail<std::out_of_range>("ArrayRef", "expected {} elements from {}, got {} in all",
                                      count, first, size_);
    }
    return {data_ + first, count};
  }
  ArrayRef slice(std::size_t first) const { return slice(first, size_ - first); }
  std::vector<T> vec() const { return std::vector<T>(begin(), end()); }
  bool equals(ArrayRef other) const { return vec() == other.vec(); }
  friend bool operator==(ArrayRef a, ArrayRef b) { return a.equals(b); }

 private:
  const T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Elements, or none, as arguments of a function.
template <class T>
using OptionalArrayRef = std::optional<ArrayRef<T>>;
using OptionalIntArrayRef = std::optional<Shape>;

/// Copies the elements; dtype when absent as for a vector.
template <class T>
Tensor tensor(ArrayRef<T> values, const CreationOptions& options = {}) {
  return tensor(values.vec(), options);
}
template <class T>
Tensor tensor(ArrayRef<T> values, detail::OneOption auto option) {
  return tensor(values.vec(), option);
}

/// D integers, from a list, an array, a vector or one value for all: a size for each dimension.
template <std::size_t D, class T = std::int64_t>
class ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> values)
      : ExpandingArray(ArrayRef<T>(values.begin(), values.size())) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
  /// Throws std::invalid_argument unless there are D values.
  ExpandingArray(ArrayRef<T> values) {
    if (values.size() != D) {
      detail::fail("ExpandingArray", "expected {} values, got {}", D, values.size());
    }
    std::copy(values.begin(), values.end(), values_.begin());
  }
  ExpandingArray(T value) { values_.fill(value); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>* operator->() { return &values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  operator ArrayRef<T>() const { return values_; }
  std::size_t size() const noexcept { return D; }

 private:
  std::array<T, D> values_;
};

template <class T>
using optional = std::optional<T>;                       ///< libtorch's name
inline constexpr std::nullopt_t nullopt = std::nullopt;  // NOLINT(readability-identifier-naming)

}  // namespace halfgrad
