#include <halfgrad/autograd/ops/shared/division_operands.h>

#include <algorithm>

#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

bool has_zero(const Array& values) {
  const Array all = values.contiguous();
  return visit(all.dtype(), [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>) {
      const T* const first = all.data_as<T>();
      return std::find(first, first + all.numel(), T(0)) != first + all.numel();
    } else {
      return false;
    }
  });
}

}  // namespace

std::array<Tensor, 2> in_one_dtype(const Tensor& a, const Tensor& b) {
  const DType dtype = result_type(std::array{a, b});
  return {a.to(dtype), b.to(dtype)};
}

std::array<Tensor, 2> division_operands(const char* op, const Tensor& self, const Tensor& other) {
  const DType dtype = result_type(std::array{self, other});
  if (dtype == kBool) fail(op, "expected numeric tensors, got two bool tensors");
  if (is_floating_point(dtype)) return {self, other};
  const std::array<Tensor, 2> operands = in_one_dtype(self, other);
  if (other.is_cpu() && self.numel() > 0 && has_zero(operands[1].array())) {
    fail(op, "expected {} divisors other than 0, got 0", dtype);
  }
  return operands;
}

}  // namespace halfgrad::detail
