#pragma once

#include <concepts>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/precision.h>

/// Precision by module instead of by op, as in jmp (github.com/google-deepmind/jmp): a policy names
/// the dtype in which a module's parameters are stored, the dtype in which it computes, and the
/// dtype that it returns.
///
///   auto body = amp::with_policy(nn::Linear(784, 512), {.compute = kHalf, .output = kHalf});
///   auto head = amp::with_policy(nn::Linear(512, 10), {.compute = kFloat});
///   auto model = nn::Sequential(body, nn::ReLU(), head);
///
/// All ops are treated alike: a policy with compute = kHalf sums and exponentiates in float16, too.
namespace halfgrad {
namespace detail {

/// Casts every floating-point operand of every op to one dtype.
struct ComputeRule final : CastRule {
  explicit ComputeRule(DType compute_dtype) : dtype(compute_dtype) {}
  void cast(const char* op, Precision precision, std::span<Tensor> operands) override;
  std::unique_ptr<CastRule> copy() const override { return std::make_unique<ComputeRule>(dtype); }

  DType dtype;
};

}  // namespace detail

namespace amp {

/// The dtypes of a module: its parameters, its computation and its output.
struct ModulePolicy {
  DType param = kFloat;
  DType compute = kHalf;
  DType output = kFloat;
};

/// Casts a floating-point tensor to `dtype`; returns any other tensor as it is.
Tensor cast_floating(const Tensor& tensor, DType dtype);

/// A module that runs by a policy, with the same parameters under the same names. Inside, the
/// policy takes the place of an autocast region. Gradients have the parameters' dtype.
template <class M>
class WithPolicy : public M {
 public:
  /// Converts the parameters and floating-point buffers in place.
  WithPolicy(M module, const ModulePolicy& policy) : M(std::move(module)), policy_(policy) {
    this->to(policy.param);
  }

  /// Returns a Tensor or a vector of them, as the module does.
  template <class... Inputs>
  auto operator()(const Inputs&... inputs) const {
    auto result = [&] {
      detail::ComputeRule rule(policy_.compute);
      const detail::CastRuleScope scope(&rule);
      return M::operator()(inputs...);
    }();
    if constexpr (std::same_as<decltype(result), Tensor>) {
      return cast_floating(result, policy_.output);
    } else {
      for (Tensor& tensor : result) tensor = cast_floating(tensor, policy_.output);
      return result;
    }
  }

  const ModulePolicy& policy() const { return policy_; }

 private:
  ModulePolicy policy_;
};

template <class M>
WithPolicy<M> with_policy(M module, const ModulePolicy& policy) {
  return WithPolicy<M>(std::move(module), policy);
}

}  // namespace amp
}  // namespace halfgrad
