#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <halfgrad/autograd/op_table/op_table.h>

namespace halfgrad::testing {

namespace detail {
struct BoundedNode;
struct BoundedFactors;
struct Recorder;
}  // namespace detail

/// An array of values with error bounds, and the arithmetic that computes with them. A formula of
/// such arrays (bounded_ops.h) yields the exact result and the error that a correct kernel may
/// have. Copies share their elements, which never change.
class BoundedArray {
 public:
  using Arithmetic = std::shared_ptr<const AnyArithmetic>;

  /// An undefined array, as an optional operand that is left out.
  BoundedArray() = default;
  /// Elements in row-major order. Throws std::invalid_argument unless their count is that of
  /// `sizes`.
  BoundedArray(Arithmetic arithmetic, const Shape& sizes, Elements elements);
  /// An operand: its elements are exact.
  BoundedArray(const Arithmetic& arithmetic, const Values& values);

  bool defined() const { return elements_ != nullptr; }
  const Shape& sizes() const { return sizes_; }
  int dim() const { return sizes_.size(); }
  /// Counts a negative `dim` from the end. Throws std::out_of_range.
  std::int64_t size(std::int64_t dim) const;
  std::int64_t numel() const { return halfgrad::numel(sizes_); }
  const Elements& elements() const { return *elements_; }
  /// The exact values, without their bounds.
  Values values() const;
  const Arithmetic& arithmetic() const { return arithmetic_; }
  /// The arithmetic itself. Throws std::invalid_argument for an undefined array.
  const AnyArithmetic& math() const;

  /// The transpose of a matrix [m, n]: [n, m].
  BoundedArray t() const;
  BoundedArray transpose(std::int64_t dim0, std::int64_t dim1) const;
  /// One size may be -1.
  BoundedArray reshape(const Shape& sizes) const;
  BoundedArray view(const Shape& sizes) const { return reshape(sizes); }

 private:
  friend struct detail::Recorder;

  Arithmetic arithmetic_;
  Shape sizes_;
  std::shared_ptr<const Elements> elements_;
  std::shared_ptr<const detail::BoundedNode> node_;        // how a derivative goes on from here
  std::shared_ptr<const detail::BoundedFactors> factors_;  // if it is a matrix product
};

/// The results of a formula: one array, or several.
class BoundedArrays {
 public:
  BoundedArrays() = default;
  BoundedArrays(BoundedArray one) : arrays_{std::move(one)} {}
  BoundedArrays(std::vector<BoundedArray> arrays) : arrays_(std::move(arrays)) {}
  BoundedArrays(std::initializer_list<BoundedArray> arrays) : arrays_(arrays) {}

  std::size_t size() const { return arrays_.size(); }
  const BoundedArray& operator[](std::size_t i) const { return arrays_[i]; }
  auto begin() const { return arrays_.begin(); }
  auto end() const { return arrays_.end(); }

 private:
  std::vector<BoundedArray> arrays_;
};

/// The same array, as a variable by which gradient() differentiates.
BoundedArray variable(const BoundedArray& x);

/// The gradients of sum(cotangent * y) by the variables: reverse mode, as autograd's, where each
/// step is a formula of bounded arrays. Gradients by a variable that y does not depend on are 0.
/// Variables of results can be differentiated again. Throws std::invalid_argument unless the
/// cotangent has y's shape and `variables` come from variable().
std::vector<BoundedArray> gradient(const BoundedArray& y,
                                   const std::vector<BoundedArray>& variables,
                                   const BoundedArray& cotangent);
/// The gradients of the sum over several results.
std::vector<BoundedArray> gradient(const BoundedArrays& y,
                                   const std::vector<BoundedArray>& variables,
                                   const std::vector<BoundedArray>& cotangents);

}  // namespace halfgrad::testing
