#include <halfgrad/autograd/grad_scale.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace halfgrad::detail {
namespace {

// Beside the gradients, which are many and mostly not scaled.
class Registry {
 public:
  ScaleId find(const Tensor& grad) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(grad.impl().get());
    if (found == entries_.end()) return kUnknownScale;
    const Entry& entry = found->second;
    const bool same = entry.grad.lock() == grad.impl() && entry.version == grad._version();
    return same ? entry.id : kUnknownScale;
  }

  void set(const Tensor& grad, ScaleId id) {
    const std::lock_guard lock(mutex_);
    entries_[grad.impl().get()] = {grad.impl(), grad._version(), id};
    if (entries_.size() < sweep_at_) return;
    std::erase_if(entries_, [](const auto& entry) { return entry.second.grad.expired(); });
    sweep_at_ = std::max(kFewEntries, 2 * entries_.size());
  }

 private:
  struct Entry {
    std::weak_ptr<TensorImpl> grad;
    std::uint32_t version;
    ScaleId id;
  };
  static constexpr std::size_t kFewEntries = 1024;

  std::mutex mutex_;
  std::unordered_map<const TensorImpl*, Entry> entries_;
  std::size_t sweep_at_ = kFewEntries;
};

Registry& registry() {
  static Registry registry;
  return registry;
}

thread_local BackwardScale* innermost = nullptr;

std::atomic<ScaleId> next_id = kFirstScaleId;

// Training without a scaler pays for nothing here.
bool has_scalers() { return next_id.load(std::memory_order_relaxed) != kFirstScaleId; }

}  // namespace

ScaleId new_scale_id() { return next_id++; }

ScaleId scale_id(const Tensor& grad) {
  return has_scalers() ? registry().find(grad) : kUnknownScale;
}

void set_scale_id(const Tensor& grad, ScaleId id) {
  if (id != kUnknownScale && has_scalers()) registry().set(grad, id);
}

void bump_version_of_scaled(const Tensor& grad) {
  const ScaleId id = scale_id(grad);
  grad.array().storage()->bump_version();
  set_scale_id(grad, id);
}

void expect_unscaled(std::span<const Tensor> grads, const char* op, const char* fix) {
  for (const Tensor& grad : grads) {
    if (scale_id(grad) <= kUnscaled) continue;
    throw std::runtime_error(std::string(op) +
                             ": expected unscaled gradients, got some that a GradScaler's scale "
                             "multiplies; " +
                             fix);
  }
}

BackwardScale::BackwardScale() : outer_(innermost) { innermost = this; }
BackwardScale::~BackwardScale() { innermost = outer_; }

ScaleId BackwardScale::of_root(const Tensor& grad) const {
  const ScaleId id = grad.defined() ? scale_id(grad) : kUnknownScale;
  if (id > kUnscaled) return id;
  return outer_ == nullptr ? kNeverScaled : kUnknownScale;
}

void BackwardScale::meet(ScaleId id) {
  ScaleId& now = innermost->now;
  now = now == kNeverScaled || now == id ? id : kUnknownScale;
}

}  // namespace halfgrad::detail
