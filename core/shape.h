#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/core/language.h>

namespace halfgrad {

inline constexpr int kMaxDims = 8;  ///< the most dimensions that an array can have

class ShapeSlice;

/// Sizes, strides or dimension indices of an array: up to kMaxDims integers, stored without
/// allocation. One integer converts to a Shape, as in libtorch: `ones(5)`, `x.view(-1)`,
/// `x.sum(0)`. A bool does not convert.
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> values) : Shape(values.begin(), values.size()) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Shape(T value) : Shape{static_cast<std::int64_t>(value)} {}
  Shape(const std::vector<std::int64_t>& values) : Shape(values.data(), values.size()) {}
  template <std::size_t N>
  Shape(const std::array<std::int64_t, N>& values) : Shape(values.data(), N) {}
  Shape(std::span<const std::int64_t> values) : Shape(values.data(), values.size()) {}
  Shape(const std::int64_t* values, std::size_t count) {
    if (count > kMaxDims) refuse_count(count);
    std::copy_n(values, count, values_.begin());
    count_ = static_cast<int>(count);
  }

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::int64_t operator[](int i) const { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t& operator[](int i) { return values_[static_cast<std::size_t>(i)]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + count_; }
  const std::int64_t* data() const { return values_.data(); }
  std::int64_t back() const { return (*this)[count_ - 1]; }
  // libtorch's methods of an IntArrayRef. Throw std::out_of_range.
  std::int64_t front() const { return at(0); }
  std::int64_t at(int i) const;
  /// `count` values from position `first` on, or all of them: a view if this Shape is not a
  /// temporary. So `x.sizes().slice(1).begin()` and `.end()` belong to one array.
  ShapeSlice slice(int first, int count) const&;
  ShapeSlice slice(int first) const&;
  Shape slice(int first, int count) const&&;
  Shape slice(int first) const&&;
  bool equals(const Shape& other) const { return *this == other; }

  void push_back(std::int64_t value);
  void insert(int position, std::int64_t value);
  void erase(int position);
  std::vector<std::int64_t> vec() const { return {begin(), end()}; }

  friend bool operator==(const Shape& a, const Shape& b) {
    bool equal = a.count_ == b.count_;
    for (int i = 0; equal && i < a.count_; ++i) equal = a[i] == b[i];
    return equal;
  }
  /// Prints "[2, 3]".
  friend std::ostream& operator<<(std::ostream& out, const Shape& shape);

 private:
  [[noreturn]] static void refuse_count(std::size_t count);

  std::array<std::int64_t, kMaxDims> values_{};
  int count_ = 0;
};

using IntArrayRef = Shape;  ///< libtorch's name

/// A view of consecutive values of a Shape, which must not outlive it. Converts to a Shape.
class ShapeSlice {
 public:
  ShapeSlice(const std::int64_t* values, int count) : values_(values), count_(count) {}
  operator Shape() const { return Shape(values_, static_cast<std::size_t>(count_)); }

  int size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::int64_t operator[](int i) const { return values_[i]; }
  const std::int64_t* begin() const { return values_; }
  const std::int64_t* end() const { return values_ + count_; }
  const std::int64_t* data() const { return values_; }
  // Throw std::out_of_range.
  std::int64_t front() const { return Shape(*this).front(); }
  std::int64_t back() const { return Shape(*this).at(count_ - 1); }
  std::int64_t at(int i) const { return Shape(*this).at(i); }
  ShapeSlice slice(int first, int count) const;
  ShapeSlice slice(int first) const { return slice(first, count_ - first); }
  bool equals(const Shape& other) const { return Shape(*this) == other; }
  std::vector<std::int64_t> vec() const { return {begin(), end()}; }

  friend bool operator==(const ShapeSlice& a, const Shape& b) { return a.equals(b); }
  friend std::ostream& operator<<(std::ostream& out, const ShapeSlice& slice) {
    return out << Shape(slice);
  }

 private:
  const std::int64_t* values_;
  int count_;
};

inline ShapeSlice Shape::slice(int first, int count) const& {
  return ShapeSlice(data(), count_).slice(first, count);
}
inline ShapeSlice Shape::slice(int first) const& { return slice(first, count_ - first); }
inline Shape Shape::slice(int first, int count) const&& {
  return ShapeSlice(data(), count_).slice(first, count);
}
inline Shape Shape::slice(int first) const&& {
  return ShapeSlice(data(), count_).slice(first, count_ - first);
}

// Deleted, because an integer in place of a Shape is a mistake: use dim() or std::to_string().
bool operator==(const Shape& shape, std::integral auto number) = delete;
std::string to_string(std::integral auto number) = delete;

/// Returns text such as "[2, 3]".
std::string to_string(const Shape& shape);

/// Number of elements: the product of the sizes, 1 for a 0-dimensional shape.
inline std::int64_t numel(const Shape& sizes) {
  std::int64_t n = 1;
  for (const std::int64_t size : sizes) n *= size;
  return n;
}

/// Row-major strides, in elements, of a contiguous array of these sizes.
Shape contiguous_strides(const Shape& sizes);

/// Returns the common shape of two operands, as NumPy and PyTorch broadcast: right-aligned, sizes
/// equal or 1. Throws std::invalid_argument, naming `op` and both shapes, if there is none.
Shape broadcast_shapes(const Shape& a, const Shape& b, const char* op);

/// Whether an array of sizes `from` can be expanded to `sizes`.
bool expands_to(const Shape& from, const Shape& sizes);

/// Maps a dimension in [-ndim, ndim) to [0, ndim). A 0-dimensional array counts as 1-dimensional.
/// Throws std::out_of_range (PyTorch: IndexError), naming `op`.
int wrap_dim(std::int64_t dim, int ndim, const char* op);

}  // namespace halfgrad
