#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/compat/functions.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

Tensor& store(const char* op, Tensor& out, const Tensor& result) {
  if (GradMode::is_enabled() && (result.requires_grad() || out.requires_grad())) {
    detail::fail(op, "expected operands without gradients, got {}",
                 "one that requires grad; use the function without _out");
  }
  if (out.dtype() != result.dtype() || out.device() != result.device()) {
    detail::fail(op, "expected an output of {} on {}, got {} on {}", result.dtype(),
                 result.device(), out.dtype(), out.device());
  }
  if (out.sizes() != result.sizes()) out.resize_(result.sizes());
  out.copy_(result);
  return out;
}

}  // namespace

Tensor from_blob(void* data, const Shape& sizes, const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), options);
}
Tensor from_blob(void* data, const Shape& sizes, const Shape& strides,
                 const TensorOptions& options) {
  return from_blob(data, sizes, strides, Deleter(), options);
}
Tensor from_blob(void* data, const Shape& sizes, const Deleter& deleter,
                 const TensorOptions& options) {
  return from_blob(data, sizes, contiguous_strides(sizes), deleter, options);
}
Tensor from_blob(void* data, const Shape& sizes, const Shape& strides, const Deleter& deleter,
                 const TensorOptions& options) {
  const auto release = [deleter, data] { deleter(data); };
  const Tensor result(Array::from_blob(data, sizes, strides, options.dtype(),
                                       deleter ? std::function<void()>(release) : nullptr,
                                       options.device()));
  return options.requires_grad() ? result.requires_grad_() : result;
}

Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha) {
  return store("add_out", out, add(self, other, alpha));
}
Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha) {
  return store("sub_out", out, sub(self, other, alpha));
}
Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return store("mul_out", out, mul(self, other));
}
Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return store("div_out", out, div(self, other));
}
Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& mat2) {
  return store("mm_out", out, mm(self, mat2));
}
Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return store("matmul_out", out, matmul(self, other));
}
Tensor& linear_out(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return store("linear_out", out, linear(input, weight, bias));
}
Tensor& cat_out(Tensor& out, const std::vector<Tensor>& tensors, std::int64_t dim) {
  return store("cat_out", out, cat(tensors, dim));
}

}  // namespace halfgrad
