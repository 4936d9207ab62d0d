#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
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
/// The stop of a Slice without one.
inline constexpr std::int64_t INDEX_MAX = std::numeric_limits<std::int64_t>::max();
// NOLINTEND(readability-identifier-naming)

/// start:stop:step, as Tensor::slice() reads them. None is 0, INDEX_MAX or 1.
class Slice {
 public:
  explicit Slice(std::optional<std::int64_t> start = None, std::optional<std::int64_t> stop = None,
                 std::optional<std::int64_t> step = None)
      : start_(start.value_or(0)), stop_(stop.value_or(INDEX_MAX)), step_(step.value_or(1)) {}
  std::int64_t start() const { return start_; }
  std::int64_t stop() const { return stop_; }
  std::int64_t step() const { return step_; }

  /// Prints "1:2:3".
  friend std::ostream& operator<<(std::ostream& out, const Slice& slice) {
    return out << slice.start_ << ':' << slice.stop_ << ':' << slice.step_;
  }

 private:
  std::int64_t start_, stop_, step_;
};

/// One of: None, Ellipsis, an integer, a Slice, a tensor of int64 or int32, a mask of bool. A mask
/// of uint8 counts as one of bool, as in PyTorch, with a warning. Negative integers count from the
/// end. A 0-dimensional integer tensor counts as an integer.
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

  // The kind of index, and its value. A value of another kind throws std::bad_variant_access.
  bool is_none() const { return std::holds_alternative<std::nullopt_t>(value_); }
  bool is_ellipsis() const { return std::holds_alternative<EllipsisIndexType>(value_); }
  bool is_integer() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_slice() const { return std::holds_alternative<Slice>(value_); }
  bool is_tensor() const { return std::holds_alternative<Tensor>(value_); }
  std::int64_t integer() const { return std::get<std::int64_t>(value_); }
  const Slice& slice() const { return std::get<Slice>(value_); }
  const Tensor& tensor() const { return std::get<Tensor>(value_); }

 private:
  static Tensor mask_of(bool value);

  Value value_;
};

}  // namespace halfgrad::indexing
