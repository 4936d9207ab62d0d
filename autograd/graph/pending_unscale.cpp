#include <halfgrad/autograd/graph/pending_unscale.h>

#include <stdexcept>
#include <utility>

#include <halfgrad/autograd/graph/narrow_gradient.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {

PendingUnscale::PendingUnscale(std::vector<Array> elements)
    : elements_(std::move(elements)),
      factors_(Array::empty({2}, kFloat, elements_[0].device())),
      found_inf_(Array::empty({}, kFloat, elements_[0].device())),
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

std::optional<double> PendingUnscale::final_max_norm() {
  const std::lock_guard lock(mutex_);
  has_run_ = true;
  return max_norm_;
}

std::shared_ptr<PendingUnscale> pending_unscale_of(std::span<const Tensor> gradients) {
  if (gradients.empty() || !is_narrow(gradients[0])) return nullptr;
  std::shared_ptr<PendingUnscale> pending = gradients[0].impl()->narrow->pending;
  if (pending == nullptr || pending->is_clipped() || !pending->covers(gradients)) return nullptr;
  return pending;
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
