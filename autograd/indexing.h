#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include <halfgrad/autograd/tensor.h>

/// The arguments of Tensor::index() and index_put_(), as in torch::indexing:
/// `x.index({Slice(1, None), Ellipsis, 0})` is Python's `x[1:, ..., 0]`.
namespace halfgrad::indexing {

// NOLINTBEGIN(readability-identifier-naming): Python's and libtorch's names
/// A new dimension of size 1; within a Slice, no limit.
inline constexpr std::nullopt_t None = std::nullopt;

/// All dimensions that the other indices do not use.
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};
// NOLINTEND(readability-identifier-naming)

/// start:stop:step, as Tensor::slice() reads them.
struct Slice {
  std::optional<std::int64_t> start, stop, step;

  explicit Slice(std::optional<std::int64_t> from = None, std::optional<std::int64_t> to = None,
                 std::optional<std::int64_t> by = None)
      : start(from), stop(to), step(by) {}
};

/// One of: None, Ellipsis, an integer, a Slice, a tensor of int64 or int32, a mask of bool.
/// Negative integers count from the end. A 0-dimensional integer tensor counts as an integer.
class TensorIndex {
 public:
  TensorIndex(std::nullopt_t none) : value_(none) {}
  TensorIndex(EllipsisIndexType ellipsis) : value_(ellipsis) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) TensorIndex(T index)
      : value_(static_cast<std::int64_t>(index)) {}
  TensorIndex(Slice slice) : value_(slice) {}
  TensorIndex(Tensor tensor) : value_(std::move(tensor)) {}
  /// "..." is Ellipsis. Throws std::invalid_argument for any other text.
  TensorIndex(const char* text);
  /// A mask without dimensions: true adds a dimension of size 1, false one of size 0.
  template <std::same_as<bool> T>
  TensorIndex(T mask) : value_(mask_of(mask)) {}

  using Value = std::variant<std::nullopt_t, EllipsisIndexType, std::int64_t, Slice, Tensor>;
  const Value& value() const { return value_; }

 private:
  static Tensor mask_of(bool value);

  Value value_;
};

}  // namespace halfgrad::indexing
