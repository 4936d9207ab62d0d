#include <halfgrad/compat/serialize/ivalue.h>

#include <cstring>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

[[noreturn]] void refuse(const char* op, const char* expected, const Tensor& tensor) {
  if (!tensor.defined()) detail::fail(op, "expected {}, got no value", std::string(expected));
  detail::fail(op, "expected {}, got a tensor of {} with sizes {}", std::string(expected),
               tensor.dtype(), tensor.sizes());
}

}  // namespace

IValue::IValue(const std::string& text)
    : tensor_(empty({static_cast<std::int64_t>(text.size())}, kUInt8)) {
  std::memcpy(tensor_.data_ptr(), text.data(), text.size());
}

Tensor IValue::scalar(Scalar value, DType dtype) { return full({}, value, dtype); }

std::int64_t IValue::toInt() const {
  if (!isInt()) refuse("toInt", "an integer (0-dim, int64)", tensor_);
  return tensor_.item<std::int64_t>();
}

double IValue::toDouble() const {
  if (!isDouble()) refuse("toDouble", "a floating-point value (0-dim, float64)", tensor_);
  return tensor_.item<double>();
}

bool IValue::toBool() const {
  if (!isBool()) refuse("toBool", "a truth value (0-dim, bool)", tensor_);
  return tensor_.item<bool>();
}

std::string IValue::toStringRef() const {
  if (!isString()) refuse("toStringRef", "a text (1-dim, uint8)", tensor_);
  const auto bytes = tensor_.to_vector<std::uint8_t>();
  return {bytes.begin(), bytes.end()};
}

}  // namespace halfgrad
