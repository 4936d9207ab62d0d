#include <halfgrad/amp/gradient_checks.h>

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>

namespace halfgrad::detail {
namespace {

bool can_unscale(const Tensor& grad) {
  return grad.is_floating_point() && !grad.array().repeats_elements();
}

std::string describe(ScaleId got) {
  if (got == kUnscaled) {
    return "some that were unscaled before; call zero_grad() after each step and backward() on a "
           "scaled loss before the next";
  }
  if (got == kMixedScales) {
    return "a sum of gradients of different scales; scale() every loss, call zero_grad() after "
           "each step, a skipped one too, unscale_() after the last backward(), and update() not "
           "before the last step()";
  }
  return "some of another scale; call update() after the step, not between backward() and it, and "
         "the scaler that scaled the loss";
}

}  // namespace

void expect_step_allowed(const optim::Optimizer& optimizer, const char* method,
                         bool combines_ranks) {
  optimizer.expect_step_allowed(method);
  optimizer.expect_sizes(method);
  if (!optimizer.is_sharded() || combines_ranks) return;
  fail<std::runtime_error>(method,
                           "expected a scaler that combines found_inf over ranks, since each rank "
                           "holds a part of the gradients; call dist::synchronize(scaler, "
                           "communicator) once");
}

std::vector<Tensor> gradients_of(const optim::Optimizer& optimizer, const std::string& method) {
  std::vector<Tensor> gradients;
  for (const optim::ParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params) {
      const Tensor grad = param.grad();
      if (!grad.defined()) continue;
      if (!is_narrow(grad) && !can_unscale(grad)) {
        fail(method,
             "expected floating-point gradients whose elements do not overlap, got {} of shape {} "
             "and strides {}",
             grad.dtype(), grad.sizes(), grad.strides());
      }
      gradients.push_back(grad);
    }
  }
  return gradients;
}

void refuse_float16(const optim::Optimizer& optimizer, const std::string& method) {
  for (const optim::ParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& param : group.params) {
      if (!param.grad().defined() || gradient_dtype(param.grad()) != kHalf) continue;
      if (optimizer.state(param).contains(kMaster)) continue;
      fail(method,
           "expected gradients of float32, float64 or bfloat16, got float16, in which small "
           "gradients would become 0 without the scale; keep the weights in float32 and let "
           "autocast make the float16 copies, or give the optimizer MasterWeights");
    }
  }
}

void expect_scale(const std::vector<Tensor>& grads, ScaleId expected, const std::string& method) {
  for (const Tensor& grad : grads) {
    const ScaleId got = scale_id(grad);
    if (got <= kNeverScaled || got == expected) continue;
    fail<std::runtime_error>(
        method, "expected gradients {}, got {}",
        expected == kUnscaled ? "unchanged since unscale_()" : "of this scaler's present scale",
        describe(got));
  }
}

void warn_of_unscaled_loss(const std::vector<Tensor>& grads, const std::string& method,
                           bool& warned) {
  const auto is_never_scaled = [](const Tensor& grad) { return scale_id(grad) == kNeverScaled; };
  if (warned || std::ranges::none_of(grads, is_never_scaled)) return;
  warned = true;
  warn(method +
       ": expected gradients of a scaled loss, got some of a loss that no scaler scaled; they are "
       "divided by the scale all the same. Call scaler.scale(loss).backward(); a loss multiplied "
       "by get_scale() is fine");
}

std::vector<Tensor> of_known_scale(const std::vector<Tensor>& grads) {
  std::vector<Tensor> known;
  std::copy_if(grads.begin(), grads.end(), std::back_inserter(known),
               [](const Tensor& grad) { return scale_id(grad) > kNeverScaled; });
  return known;
}

void mark_unscaled(const std::vector<Tensor>& known) {
  for (const Tensor& grad : known) set_scale_id(grad, kUnscaled);
}

std::vector<Array> arrays_of(const std::vector<Tensor>& tensors) {
  std::vector<Array> arrays;
  arrays.reserve(tensors.size());
  for (const Tensor& tensor : tensors) arrays.push_back(tensor.array());
  return arrays;
}

}  // namespace halfgrad::detail
