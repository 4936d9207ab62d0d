#include <halfgrad/autograd/graph/pending_unscale.h>

#include <stdexcept>
#include <unordered_set>
#include <utility>

#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/graph.h>

namespace halfgrad::detail {
namespace {

// A replay writes new elements, which are not unscaled yet.
bool follows_replays(const Tensor& gradient) {
  return gradient.impl()->narrow->is_captured && !Graph::is_capturing();
}

}  // namespace

PendingUnscale::PendingUnscale(std::vector<Array> elements)
    : elements_(std::move(elements)),
      factors_(Array::empty({2}, kFloat, elements_[0].device())),
      total_norm_(Array::empty({}, kFloat, elements_[0].device())),
      stream_(current_stream(elements_[0].device())) {
  for (const Array& of_gradient : elements_) storages_.push_back(of_gradient.storage().get());
}

bool PendingUnscale::covers(std::span<const Tensor> gradients) const {
  if (gradients.size() != storages_.size()) return false;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Array* const stored = elements_before(gradients[i], factors_);
    if (stored == nullptr || stored->storage().get() != storages_[i]) return false;
  }
  return true;
}

bool PendingUnscale::clip(double max_norm) {
  const std::lock_guard lock(mutex_);
  if (max_norm_) fail<std::logic_error>("clip", "expected one call, got a second one");
  max_norm_ = max_norm;
  return !has_run_;
}

bool PendingUnscale::is_clipped() const {
  const std::lock_guard lock(mutex_);
  return max_norm_.has_value();
}

bool PendingUnscale::has_run() const {
  const std::lock_guard lock(mutex_);
  return has_run_;
}

bool PendingUnscale::give_norm() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(norm_is_given_, true);
}

bool PendingUnscale::settle_here(const Run& run) {
  if (current_stream(factors_.device()) != stream_) return false;
  return settle_by([&] { run_last(run); });
}

void PendingUnscale::compute() {
  const Stream reader = current_stream(factors_.device());
  {
    const StreamScope scope(stream_);
    run_last(
        [this](const auto& elements, const auto& max_norm) { compute_from(elements, max_norm); });
  }
  if (reader != stream_) reader.wait_stream(stream_);
}

void PendingUnscale::run_last(const Run& run) {
  std::optional<double> max_norm;
  {
    const std::lock_guard lock(mutex_);
    has_run_ = true;  // from here on clip() comes too late
    max_norm = max_norm_;
  }
  run(elements_, max_norm);
  elements_.clear();
}

std::vector<Array> elements_for_pass(std::span<const Tensor> gradients) {
  std::vector<Array> elements;
  std::unordered_set<const Storage*> storages;
  for (const Tensor& gradient : gradients) {
    const Array* const stored = narrow_elements(gradient);
    if (stored == nullptr || follows_replays(gradient)) return {};
    if (!elements.empty() && stored->device() != elements[0].device()) return {};
    if (!storages.insert(stored->storage().get()).second) return {};  // it is multiplied twice
    elements.push_back(*stored);
  }
  return elements;
}

std::shared_ptr<PendingUnscale> pending_pass_of(std::span<const Tensor> gradients) {
  if (gradients.empty() || !is_narrow(gradients[0])) return nullptr;
  std::shared_ptr<PendingUnscale> pending = gradients[0].impl()->narrow->pending;
  return pending != nullptr && pending->covers(gradients) ? pending : nullptr;
}

std::shared_ptr<PendingUnscale> pending_unscale_of(std::span<const Tensor> gradients) {
  std::shared_ptr<PendingUnscale> pending = pending_pass_of(gradients);
  return pending != nullptr && !pending->is_clipped() ? pending : nullptr;
}

void set_pending_unscale(std::span<const Tensor> gradients,
                         const std::shared_ptr<PendingUnscale>& pending) {
  for (const Tensor& gradient : gradients) {
    NarrowGradient& narrow = *gradient.impl()->narrow;
    narrow.factors = pending->factors();
    narrow.pending = pending;
  }
  remember(pending);
}

Tensor pending_norm_of(std::span<const Tensor> gradients) {
  const std::shared_ptr<PendingUnscale> pending = pending_unscale_of(gradients);
  if (pending == nullptr || !pending->give_norm()) return {};
  Tensor norm(pending->total_norm());
  norm.impl()->deferred = pending;
  return norm;
}

bool is_norm_of(const Tensor& norm, const PendingUnscale& pending) {
  return norm.impl()->deferred.get() == &pending;
}

}  // namespace halfgrad::detail
