#include <halfgrad/autograd/graph/accumulate.h>

#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/graph/gradient_memory.h>
#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/autograd/graph/side_work.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::detail {
namespace {

// True if nothing else refers to this memory, so that it may be overwritten.
bool is_unshared(const Tensor& tensor) {
  return tensor.impl().use_count() == 1 && tensor.array().storage().use_count() == 1;
}

// True in a capture of the CUDA runtime without Graph, which does not count its replays.
bool is_captured_elsewhere(Device device) {
  return device.is_cuda() && !Graph::is_capturing() &&
         runtime::is_capturing(device.index(), current_stream(device).native());
}

bool has_narrow_dtype(const Tensor& gradient) {
  return is_reduced(gradient.dtype()) || gradient.dtype() == kFloat;
}

// A later change of elements that something else refers to would change the gradient.
bool may_stay_narrow(const Tensor& gradient) {
  return gradient.impl().use_count() == 1 &&
         gradient.impl()->narrow->elements.storage().use_count() == 1;
}

void expect_fit(const Tensor& grad, const Array& leaf) {
  if (grad.sizes() == leaf.sizes() && grad.dtype() == leaf.dtype()) return;
  fail<std::runtime_error>("backward",
                           "expected a grad() of the leaf's shape {} and dtype {}, got {} and {}: "
                           "set_data() has changed the leaf since the last pass; call zero_grad() "
                           "before this one",
                           leaf.sizes(), leaf.dtype(), grad.sizes(), grad.dtype());
}

std::mutex& leaf_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

void accumulate(Tensor& total, Tensor&& gradient) {
  if (!total.defined()) {
    total = std::move(gradient);
    return;
  }
  SideWork::join();
  if (!GradMode::is_enabled() && is_unshared(total) && total.is_contiguous()) {
    add_into(total.array(), gradient.array());
  } else {
    total = add(total, gradient);
  }
}

void refuse_nan(const char* op, std::span<const Tensor> gradients) {
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined() || !any(isnan(gradients[i])).item<bool>()) continue;
    fail<std::runtime_error>("backward",
                             "expected finite gradients, got nan from the derivative of '{}' with "
                             "respect to its input {}",
                             op, i);
  }
}

void conform(Tensor& gradient, const Shape& sizes, DType dtype, Device device, const char* op) {
  if (gradient.device() != device) {
    fail<std::runtime_error>(std::string(op) + " backward",
                             "expected a gradient on {}, got one on {}", device, gradient.device());
  }
  if (gradient.sizes() != sizes) {
    if (!expands_to(sizes, gradient.sizes())) {
      fail<std::runtime_error>(std::string(op) + " backward",
                               "expected shape {} of a gradient, got {}", sizes, gradient.sizes());
    }
    SideWork::join();
    gradient = sum_to_size(gradient, sizes);
  }
  if (gradient.dtype() != dtype) {
    SideWork::join();
    gradient = gradient.to(dtype);
  }
}

void conform_to_leaf(Tensor& gradient, const TensorImpl& leaf, bool may_stay_narrow,
                     const char* op) {
  const Array& elements = leaf.array;
  const bool stays_narrow = may_stay_narrow && !GradMode::is_enabled() && !is_narrow(gradient) &&
                            elements.dtype() == kFloat && has_narrow_dtype(gradient) &&
                            gradient.is_contiguous() && !is_in_lent_memory(leaf, gradient) &&
                            !is_captured_elsewhere(gradient.device());
  conform(gradient, elements.sizes(), stays_narrow ? gradient.dtype() : elements.dtype(),
          elements.device(), op);
  if (stays_narrow) gradient = narrow_gradient(gradient.array());
}

void accumulate_into_leaf(TensorImpl& leaf, Tensor gradient, ScaleId scale) {
  const std::lock_guard lock(leaf_mutex());
  Tensor total(leaf.grad);
  const bool is_in_place = land_in_lent_memory(leaf, gradient);
  if (is_narrow(gradient) && (total.defined() || !may_stay_narrow(gradient))) {
    widen(*gradient.impl());
  }
  if (total.defined()) {
    expect_fit(total, leaf.array);
    scale = scale_of_sum(scale_id(total), scale);
    if (GradMode::is_enabled() || total.array().repeats_elements()) {
      total = add(total, gradient);
    } else {
      add_into(total.array(), gradient.array());
      total.array().storage()->bump_version();
    }
  } else if (is_in_place || is_narrow(gradient) ||
             (is_unshared(gradient) && gradient.is_contiguous())) {
    total = std::move(gradient);
  } else {
    total = clone(gradient);  // later passes add to it
  }
  set_scale_id(total, scale);
  leaf.grad = total.impl();
}

}  // namespace halfgrad::detail
