#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::detail {

class CastCache;

/// The settings of the innermost autocast region, for every device type.
struct AutocastRule final : CastRule {
  struct Settings {
    bool enabled = false;
    DType dtype = kHalf;
  };

  /// Returns the rule outside all regions: everything disabled, an empty cache.
  static AutocastRule outermost();

  void cast(const char* op, Precision precision, std::span<Tensor> operands) override;
  std::optional<DType> dtype_of(const char* op, Precision precision,
                                const Tensor& operand) const override;
  std::unique_ptr<CastRule> copy() const override;

  std::array<Settings, 2> settings{};  // indexed by device type
  bool cache_enabled = true;
  int depth = 0;  ///< number of regions around, this one included
  std::shared_ptr<CastCache> cache;
};

}  // namespace halfgrad::detail

namespace halfgrad::amp {

struct AutocastOptions {
  std::optional<DType> dtype = {};         ///< the enclosing region's; float16 in the outermost
  bool enabled = true;                     ///< false: no casts for this device type inside
  std::optional<bool> cache_enabled = {};  ///< the enclosing region's; true in the outermost
};

/// A region of mixed precision, from construction to the end of the scope, on this thread:
///
///   {
///     amp::Autocast autocast(kCUDA);              // float16
///     loss = cross_entropy(model(x), y);          // linear in float16, the loss in float32
///   }
///   scaler.scale(loss).backward();                // outside: backward follows what forward did
///
/// Inside, each op's operands on that device type are cast according to its Precision
/// (amp/policy.h): float16 for matrix products, float32 where 16 bits overflow. float64 and
/// integers are not cast. Casts are differentiable, so float32 weights get float32 gradients. The
/// rules are those of torch.autocast for CUDA, on every device type.
///
/// Regions nest: the inner one decides for its device type, other device types keep their state.
/// The cache of casts lives until the outermost region ends. Regions on the heap may end in any
/// order. A region that another thread ends warns, and stays in force on its own thread until the
/// next region there begins or ends.
class Autocast {
 public:
  /// A dtype other than float16 and bfloat16, or a device type this machine lacks, gives a warning
  /// and a disabled region.
  [[nodiscard]] explicit Autocast(DeviceType type, const AutocastOptions& options = {});
  /// Takes the arguments of torch.autocast, in its order.
  [[nodiscard]] Autocast(DeviceType type, DType dtype, bool enabled = true,
                         std::optional<bool> cache_enabled = std::nullopt)
      : Autocast(type, AutocastOptions{dtype, enabled, cache_enabled}) {}

 private:
  explicit Autocast(const std::shared_ptr<detail::AutocastRule>& rule);

  detail::GuardedValue<CastRule*> rule_;
};

/// The state of this thread's innermost region. Outside all regions, and while an op computes,
/// casts are disabled, the dtype is float16 and the cache enabled.
bool is_autocast_enabled(DeviceType type);
DType get_autocast_dtype(DeviceType type);
bool is_autocast_cache_enabled();
/// Forgets the casts made so far in this thread's regions.
void clear_autocast_cache();

}  // namespace halfgrad::amp
