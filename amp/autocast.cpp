#include <halfgrad/amp/autocast.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <halfgrad/amp/policy.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/warning.h>

namespace halfgrad {

/// 16-bit copies of float32 leaves, made once a region: a weight used twice is cast once, and the
/// gradients of both uses are summed in 16 bits before they return to float32. A copy is known by
/// its source, its dtype and the source's version: an in-place change makes a fresh one.
class detail::CastCache {
 public:
  Tensor cast(const Tensor& source, DType dtype) {
    Copy& copy = copies_[{source.impl().get(), dtype}];
    if (copy.source.lock() != source.impl() || copy.version != source._version()) {
      const EnableGradGuard record;  // the next use may need a gradient, even if this one does not
      copy = {source.impl(), source._version(), to(source, dtype)};
    }
    return copy.tensor;
  }
  void clear() { copies_.clear(); }

 private:
  struct Copy {
    std::weak_ptr<TensorImpl> source;
    std::uint32_t version = 0;
    Tensor tensor;
  };
  std::map<std::pair<const TensorImpl*, DType>, Copy> copies_;
};

namespace amp {
namespace {

constexpr DeviceType kDeviceTypes[] = {kCPU, kCUDA};

std::size_t index_of(DeviceType type) { return static_cast<std::size_t>(type); }

bool can_enable(DeviceType type, DType dtype) {
  if (type == kCUDA && !cuda::is_available()) {
    detail::warn(
        "Autocast: expected a machine with CUDA for device type cuda, got none; "
        "the region is disabled");
    return false;
  }
  if (!is_reduced(dtype)) {
    detail::warn("Autocast: expected float16 or bfloat16, got " + std::string(name(dtype)) +
                 "; the region is disabled");
    return false;
  }
  return true;
}

}  // namespace

Autocast::Autocast(DeviceType type, const AutocastOptions& options) : previous_(detail::cast_rule) {
  if (const Autocast* outer = innermost()) {
    settings_ = outer->settings_;
    cache_enabled_ = outer->cache_enabled_;
    cache_ = outer->cache_;
  } else {
    cache_ = std::make_shared<detail::CastCache>();
  }
  Settings& settings = settings_[index_of(type)];
  settings.dtype = options.dtype.value_or(settings.dtype);
  settings.enabled = options.enabled && can_enable(type, settings.dtype);
  cache_enabled_ = options.cache_enabled.value_or(cache_enabled_);
  detail::cast_rule = this;
}

const Autocast* Autocast::innermost() { return dynamic_cast<const Autocast*>(detail::cast_rule); }

void Autocast::cast(const char* op, Precision precision, std::span<Tensor> operands) {
  if (precision == Precision::any) return;
  for (const DeviceType type : kDeviceTypes) {
    const auto [enabled, fast] = settings_[index_of(type)];
    if (!enabled) continue;
    const Casts casts = decide(op, precision, operands, type, fast);
    for (Tensor& operand : casts.operands) {
      if (is_eligible(operand, type)) operand = converted(operand, casts.dtype, fast);
    }
  }
}

Tensor Autocast::converted(const Tensor& source, DType dtype, DType fast) const {
  const bool cacheable = dtype == fast && source.dtype() == kFloat && source.requires_grad() &&
                         source.is_leaf() && !source.impl()->is_view;
  const bool use_cache = cacheable && cache_enabled_ && !InferenceMode::is_enabled();
  return use_cache ? cache_->cast(source, dtype) : to(source, dtype);
}

bool is_autocast_enabled(DeviceType type) {
  const Autocast* region = Autocast::innermost();
  return region != nullptr && region->settings_[index_of(type)].enabled;
}

DType get_autocast_dtype(DeviceType type) {
  const Autocast* region = Autocast::innermost();
  return region != nullptr ? region->settings_[index_of(type)].dtype : kHalf;
}

bool is_autocast_cache_enabled() {
  const Autocast* region = Autocast::innermost();
  return region == nullptr || region->cache_enabled_;
}

void clear_autocast_cache() {
  if (const Autocast* region = Autocast::innermost()) region->cache_->clear();
}

}  // namespace amp
}  // namespace halfgrad
