#pragma once

#include <halfgrad/compat/names.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad {

/// A value beside the tensors of an archive, such as the number of an epoch. It is stored as a
/// tensor: a number as a 0-dim int64, float64 or bool tensor, a text as the uint8 vector of its
/// bytes. So each value can be read as a tensor, too. libtorch's other kinds are not there.
class IValue {
 public:
  IValue() = default;
  IValue(Tensor tensor) : tensor_(std::move(tensor)) {}
  IValue(std::same_as<bool> auto value) : IValue(scalar(Scalar(value), kBool)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) IValue(T value)
      : IValue(scalar(Scalar(static_cast<std::int64_t>(value)), kInt64)) {}
  IValue(std::floating_point auto value)
      : IValue(scalar(Scalar(static_cast<double>(value)), kFloat64)) {}
  IValue(const std::string& text);
  IValue(const char* text) : IValue(std::string(text)) {}

  // NOLINTBEGIN(readability-identifier-naming): libtorch's names
  bool isNone() const { return !tensor_.defined(); }
  bool isTensor() const { return tensor_.defined(); }
  bool isInt() const { return holds(kInt64, 0); }
  bool isDouble() const { return holds(kFloat64, 0); }
  bool isBool() const { return holds(kBool, 0); }
  bool isString() const { return holds(kUInt8, 1); }
  const Tensor& toTensor() const { return tensor_; }
  /// Throw std::invalid_argument for a value of another kind.
  std::int64_t toInt() const;
  double toDouble() const;
  bool toBool() const;
  std::string toStringRef() const;
  // NOLINTEND(readability-identifier-naming)

 private:
  static Tensor scalar(Scalar value, DType dtype);
  bool holds(DType dtype, std::int64_t dims) const {
    return tensor_.defined() && tensor_.dtype() == dtype && tensor_.dim() == dims;
  }

  Tensor tensor_;
};

}  // namespace halfgrad
