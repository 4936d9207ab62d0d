#include <halfgrad/amp/autocast.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <halfgrad/amp/policy.h>
#include <halfgrad/autograd/graph/shadow_weight.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/warning.h>

namespace halfgrad {

/// 16-bit copies of float32 leaves, made once a region: a weight used twice is cast once, and the
/// gradients of both uses are summed in 16 bits before they return to float32. The key is the
/// source, its version and the dtype, so an in-place change of the source makes a new copy.
class detail::CastCache {
 public:
  Tensor cast(const Tensor& source, DType dtype) {
    Copy& copy = copies_[{source.impl().get(), dtype}];
    if (copy.source.lock() != source.impl() || copy.version != source._version()) {
      // A later use may need a gradient, even if this one does not.
      const EnableGradGuard enable_grad;
      copy = {source.impl(), source._version(), to_by_shadow(source, dtype)};
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

const detail::AutocastRule* innermost() {
  detail::ScopeEntry<CastRule*>::end_abandoned();
  return dynamic_cast<const detail::AutocastRule*>(detail::cast_rule);
}

detail::AutocastRule inner_rule(DeviceType type, const amp::AutocastOptions& options) {
  const detail::AutocastRule* outer = innermost();
  detail::AutocastRule rule = outer != nullptr ? *outer : detail::AutocastRule::outermost();
  auto& [enabled, dtype] = rule.settings[index_of(type)];
  dtype = options.dtype.value_or(dtype);
  enabled = options.enabled && can_enable(type, dtype);
  rule.cache_enabled = options.cache_enabled.value_or(rule.cache_enabled);
  ++rule.depth;
  return rule;
}

}  // namespace

detail::AutocastRule detail::AutocastRule::outermost() {
  AutocastRule rule;
  rule.cache = std::make_shared<CastCache>();
  return rule;
}

void detail::AutocastRule::cast(const char* op, Precision precision, std::span<Tensor> operands) {
  if (precision == Precision::any) return;
  const auto converted = [this](const Tensor& source, DType dtype, DType fast) {
    const bool is_weight = source.dtype() == kFloat && source.requires_grad() && source.is_leaf() &&
                           !source.impl()->is_view;
    const bool cached = is_weight && dtype == fast && cache_enabled && !InferenceMode::is_enabled();
    return cached ? cache->cast(source, dtype) : to(source, dtype);
  };
  for (const DeviceType type : kDeviceTypes) {
    const auto [enabled, fast] = settings[index_of(type)];
    if (!enabled) continue;
    const amp::Casts casts = amp::decide(op, precision, operands, type, fast);
    for (Tensor& operand : casts.operands) {
      if (amp::is_eligible(operand, type)) operand = converted(operand, casts.dtype, fast);
    }
  }
}

std::optional<DType> detail::AutocastRule::dtype_of(const char* op, Precision precision,
                                                    const Tensor& operand) const {
  for (const DeviceType type : kDeviceTypes) {
    const auto [enabled, fast] = settings[index_of(type)];
    if (!enabled || !amp::is_eligible(operand, type)) continue;
    std::array<Tensor, 1> operands{operand};
    const amp::Casts casts = amp::decide(op, precision, operands, type, fast);
    if (!casts.operands.empty()) return casts.dtype;
  }
  return operand.dtype();
}

std::unique_ptr<CastRule> detail::AutocastRule::copy() const {
  auto rule = std::make_unique<AutocastRule>(*this);
  rule->cache = std::make_shared<CastCache>();
  return rule;
}

namespace amp {

Autocast::Autocast(DeviceType type, const AutocastOptions& options)
    : Autocast(std::make_shared<detail::AutocastRule>(inner_rule(type, options))) {}

Autocast::Autocast(const std::shared_ptr<detail::AutocastRule>& rule)
    : rule_("Autocast", detail::cast_rule, rule.get(), rule) {}

bool is_autocast_enabled(DeviceType type) {
  const detail::AutocastRule* rule = innermost();
  return rule != nullptr && rule->settings[index_of(type)].enabled;
}

DType get_autocast_dtype(DeviceType type) {
  const detail::AutocastRule* rule = innermost();
  return rule != nullptr ? rule->settings[index_of(type)].dtype : kHalf;
}

bool is_autocast_cache_enabled() {
  const detail::AutocastRule* rule = innermost();
  return rule == nullptr || rule->cache_enabled;
}

void clear_autocast_cache() {
  if (const detail::AutocastRule* rule = innermost()) rule->cache->clear();
}

}  // namespace amp
}  // namespace halfgrad
