#include <halfgrad/autograd/graph/grad_scale.h>

#include <atomic>
#include <stdexcept>

#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

thread_local BackwardScale* innermost = nullptr;

std::atomic<ScaleId> next_id = kFirstScaleId;

// False until the first scaler is made.
bool has_scalers() { return next_id.load(std::memory_order_relaxed) != kFirstScaleId; }

}  // namespace

ScaleId new_scale_id() { return next_id++; }

ScaleId scale_id(const Tensor& grad) {
  if (!grad.defined()) return kUnknownScale;
  const TensorImpl& impl = *grad.impl();
  return impl.scale_version == gradient_version(grad) ? impl.scale_id : kUnknownScale;
}

void set_scale_id(const Tensor& grad, ScaleId id) {
  if (id == kUnknownScale || !has_scalers()) return;
  grad.impl()->scale_id = id;
  grad.impl()->scale_version = gradient_version(grad);
}

void bump_version_of_scaled(const Tensor& grad) {
  const ScaleId id = scale_id(grad);
  grad.array().storage()->bump_version();
  set_scale_id(grad, id);
}

void expect_unscaled(std::span<const Tensor> grads, const char* op, const char* fix) {
  for (const Tensor& grad : grads) {
    if (scale_id(grad) <= kUnscaled) continue;
    fail<std::runtime_error>(
        op, "expected unscaled gradients, got some that a GradScaler's scale multiplies; {}", fix);
  }
}

BackwardScale::BackwardScale() : outer_(innermost) { innermost = this; }
BackwardScale::~BackwardScale() { innermost = outer_; }

ScaleId BackwardScale::of_root(const Tensor& grad) const {
  const ScaleId id = grad.defined() ? scale_id(grad) : kUnknownScale;
  if (id > kUnscaled) return id;
  return outer_ == nullptr ? kNeverScaled : kUnknownScale;
}

bool BackwardScale::is_running() { return innermost != nullptr; }

void BackwardScale::meet(ScaleId id) {
  ScaleId& now = innermost->now;
  now = now == kNeverScaled || now == id ? id : kUnknownScale;
}

}  // namespace halfgrad::detail
