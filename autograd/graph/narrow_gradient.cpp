#include <halfgrad/autograd/graph/narrow_gradient.h>

#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/pending_unscale.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/stream.h>

namespace halfgrad::detail {
namespace {

// y = (x * a) * b, with the rounding of two multiplications in place
struct MultiplyTwice {
  template <class T>
  HG_HD T operator()(T x, T a, T b) const {
    return (x * a) * b;
  }
};

// Gradients on GPUs that are narrow, except captured ones. Never destroyed: a static tensor of a
// program may outlive every static variable of this file.
struct Registry {
  std::recursive_mutex mutex;  // recursive: widen() destroys a NarrowGradient
  std::unordered_set<TensorImpl*> gradients;
};

Registry& registry() {
  static auto* const only = new Registry;
  return *only;
}

// A capture would record the widening of an older gradient, and every replay would repeat it.
void widen_before_capture() {
  const std::lock_guard lock(registry().mutex);
  const std::vector<TensorImpl*> all(registry().gradients.begin(), registry().gradients.end());
  for (TensorImpl* const gradient : all) widen(*gradient);
}

void widen_into(const Array& y, const NarrowGradient& narrow) {
  const Array& x = narrow.elements;
  if (!narrow.factors.defined()) return y.copy_(x);
  const Array first = narrow.factors.select(0, 0).expand(x.sizes());
  const Array second = narrow.factors.select(0, 1).expand(x.sizes());
  elementwise(MultiplyTwice(), kFloat, y, x, first, second);
}

// The work may be queued on another stream than the one that made the elements.
void record_streams(const NarrowGradient& narrow) {
  if (!narrow.elements.device().is_cuda()) return;
  const Stream stream = current_stream(narrow.elements.device());
  narrow.elements.record_stream(stream);
  if (narrow.factors.defined()) narrow.factors.record_stream(stream);
}

void forget_narrow(TensorImpl& gradient) {
  gradient.narrow.reset();
  gradient.is_narrow.store(false, std::memory_order_release);
}

// Float32 elements without factors are the gradient.
bool is_wide_already(const NarrowGradient& narrow) {
  return narrow.elements.dtype() == kFloat && !narrow.factors.defined();
}

bool is_up_to_date(const TensorImpl& gradient) {
  return gradient.array.defined() && gradient.narrow->widened_at == Graph::replays();
}

}  // namespace

NarrowGradient::NarrowGradient(TensorImpl& owner, Array stored, bool captured)
    : gradient(owner), elements(std::move(stored)), is_captured(captured) {
  if (is_captured || !elements.device().is_cuda()) return;
  static const bool is_registered = (Graph::before_captures(widen_before_capture), true);
  static_cast<void>(is_registered);
  const std::lock_guard lock(registry().mutex);
  registry().gradients.insert(&gradient);
}

NarrowGradient::~NarrowGradient() {
  if (is_captured || !elements.device().is_cuda()) return;
  const std::lock_guard lock(registry().mutex);
  registry().gradients.erase(&gradient);
}

// Outside of the capture, a captured gradient stays narrow: the next replay writes new elements.
void widen(TensorImpl& gradient) {
  const std::lock_guard lock(registry().mutex);
  if (!gradient.is_narrow.load(std::memory_order_relaxed)) return;
  NarrowGradient& narrow = *gradient.narrow;
  const bool stays_narrow = narrow.is_captured && !Graph::is_capturing();
  if (stays_narrow && is_up_to_date(gradient)) return;
  if (is_wide_already(narrow)) {
    gradient.array = narrow.elements;
    return forget_narrow(gradient);
  }
  if (narrow.pending != nullptr) narrow.pending->settle();
  const bool scale_is_known = gradient.scale_version == narrow.elements.storage()->version();
  if (!stays_narrow && narrow.elements.dtype() == kFloat) {
    gradient.array = narrow.elements;  // multiplied in place
  } else if (!stays_narrow || !gradient.array.defined()) {
    gradient.array = Array::empty(narrow.elements.sizes(), kFloat, narrow.elements.device());
  }
  widen_into(gradient.array, narrow);
  record_streams(narrow);
  if (stays_narrow) {
    narrow.widened_at = Graph::replays();
    return;
  }
  const std::uint32_t version = gradient.array.storage()->version();
  gradient.scale_version = scale_is_known ? version : version + 1;
  forget_narrow(gradient);
}

Tensor narrow_gradient(const Array& elements) {
  auto impl = std::make_shared<TensorImpl>(Array());
  impl->is_inference = modes.inference;
  impl->narrow = std::make_shared<NarrowGradient>(*impl, elements, Graph::is_capturing());
  impl->is_narrow = true;
  return Tensor(std::move(impl));
}

bool is_narrow(const Tensor& gradient) { return gradient.defined() && gradient.impl()->is_narrow; }

const Array* narrow_elements(const Tensor& gradient) {
  if (!is_narrow(gradient)) return nullptr;
  const NarrowGradient& narrow = *gradient.impl()->narrow;
  const bool is_changed =
      narrow.factors.defined() || (narrow.is_captured && is_up_to_date(*gradient.impl()));
  return is_changed ? nullptr : &narrow.elements;
}

const Array* elements_before(const Tensor& gradient, const Array& factors) {
  if (!is_narrow(gradient)) return nullptr;
  const NarrowGradient& narrow = *gradient.impl()->narrow;
  const bool is_changed = !narrow.factors.defined() ||
                          narrow.factors.storage() != factors.storage() ||
                          (narrow.is_captured && is_up_to_date(*gradient.impl()));
  return is_changed ? nullptr : &narrow.elements;
}

GradientOperands narrow_operands(const Tensor& gradient) {
  if (!is_narrow(gradient)) return {};
  const NarrowGradient& narrow = *gradient.impl()->narrow;
  if (narrow.is_captured && is_up_to_date(*gradient.impl())) return {};  // it may be changed
  if (narrow.pending != nullptr) narrow.pending->settle();
  return {&narrow.elements, narrow.factors.defined() ? &narrow.factors : nullptr};
}

DType gradient_dtype(const Tensor& gradient) {
  return is_narrow(gradient) ? kFloat : gradient.dtype();
}

const Shape& gradient_sizes(const Tensor& gradient) {
  return is_narrow(gradient) ? gradient.impl()->narrow->elements.sizes() : gradient.sizes();
}

std::uint32_t gradient_version(const Tensor& gradient) {
  return is_narrow(gradient) ? gradient.impl()->narrow->elements.storage()->version()
                             : gradient._version();
}

void set_factors(const Tensor& gradient, const Array& factors) {
  NarrowGradient& narrow = *gradient.impl()->narrow;
  narrow.factors = factors;
  narrow.pending = nullptr;
  if (!narrow.is_captured || Graph::is_capturing()) return;
  static_cast<void>(gradient.array());  // widens it now: the next replay has other factors
  narrow.factors = Array();
}

}  // namespace halfgrad::detail
