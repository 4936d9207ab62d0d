#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/plain_names.h>
#include <halfgrad/nn/module.h>

/// The losses of ops.h as modules: `criterion(input, target)`. Weights are buffers, so that to()
/// moves them with the module. ops.h documents shapes and formulas.
namespace halfgrad::nn {
namespace detail {

/// A loss that warns if input and target broadcast: once for each call site, as the op does.
template <class Derived>
class TargetLoss : public Callable<Derived> {
 public:
  using Callable<Derived>::Callable;

  Tensor operator()(const Tensor& input, const Tensor& target,
                    CallSite site = CallSite::here()) const {
    return Callable<Derived>::operator()(input, target, site);
  }
};

}  // namespace detail

/// cross_entropy() as a module: -log softmax(input)[target].
class CrossEntropyLoss : public Callable<CrossEntropyLoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  CrossEntropyLoss(T empty) : Callable(empty) {}
  explicit CrossEntropyLoss(CrossEntropyOptions options = {})
      : Callable("CrossEntropyLoss"), options_(std::move(options)) {
    register_buffer("weight", options_.weight);
  }
  Tensor forward(const Tensor& input, const Tensor& target) const {
    return cross_entropy(input, target, options_);
  }

 private:
  CrossEntropyOptions options_;
};

struct NLLLossArguments {
  Tensor weight = {};  ///< [c]
  std::int64_t ignore_index = -100;
  Reduction reduction = kMean;
};
HALFGRAD_PLAIN_NAME(NLLLossOptions, NLLLossArguments)

/// nll_loss() as a module: -input[target], where input has log-probabilities.
class NLLLoss : public Callable<NLLLoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  NLLLoss(T empty) : Callable(empty) {}
  explicit NLLLoss(NLLLossArguments options = {})
      : Callable("NLLLoss"), options_(std::move(options)) {
    register_buffer("weight", options_.weight);
  }
  Tensor forward(const Tensor& input, const Tensor& target) const {
    return nll_loss(input, target, options_.weight, options_.reduction, options_.ignore_index);
  }

 private:
  NLLLossArguments options_;
};

struct MSELossArguments {
  Reduction reduction = kMean;
};
HALFGRAD_PLAIN_NAME(MSELossOptions, MSELossArguments)

/// mse_loss() as a module: (input - target)^2.
class MSELoss : public detail::TargetLoss<MSELoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  MSELoss(T empty) : TargetLoss(empty) {}
  explicit MSELoss(MSELossArguments options = {}) : TargetLoss("MSELoss"), options_(options) {}
  explicit MSELoss(std::same_as<Reduction> auto reduction)
      : MSELoss(MSELossArguments{.reduction = reduction}) {}
  Tensor forward(const Tensor& input, const Tensor& target,
                 CallSite site = CallSite::here()) const {
    return mse_loss(input, target, options_.reduction, site);
  }

 private:
  MSELossArguments options_;
};

struct L1LossArguments {
  Reduction reduction = kMean;
};

/// l1_loss() as a module: |input - target|.
class L1Loss : public detail::TargetLoss<L1Loss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  L1Loss(T empty) : TargetLoss(empty) {}
  explicit L1Loss(L1LossArguments options = {}) : TargetLoss("L1Loss"), options_(options) {}
  explicit L1Loss(std::same_as<Reduction> auto reduction)
      : L1Loss(L1LossArguments{.reduction = reduction}) {}
  Tensor forward(const Tensor& input, const Tensor& target,
                 CallSite site = CallSite::here()) const {
    return l1_loss(input, target, options_.reduction, site);
  }

 private:
  L1LossArguments options_;
};

struct SmoothL1LossArguments {
  Reduction reduction = kMean;
  double beta = 1.0;
};

/// smooth_l1_loss() as a module: a parabola up to a distance of beta, and a line beyond.
class SmoothL1Loss : public detail::TargetLoss<SmoothL1Loss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  SmoothL1Loss(T empty) : TargetLoss(empty) {}
  explicit SmoothL1Loss(SmoothL1LossArguments options = {})
      : TargetLoss("SmoothL1Loss"), options_(options) {}
  explicit SmoothL1Loss(std::same_as<Reduction> auto reduction)
      : SmoothL1Loss(SmoothL1LossArguments{.reduction = reduction}) {}
  Tensor forward(const Tensor& input, const Tensor& target,
                 CallSite site = CallSite::here()) const {
    return smooth_l1_loss(input, target, options_.reduction, options_.beta, site);
  }

 private:
  SmoothL1LossArguments options_;
};

struct HuberLossArguments {
  Reduction reduction = kMean;
  double delta = 1.0;
};
HALFGRAD_PLAIN_NAME(HuberLossOptions, HuberLossArguments)

/// huber_loss() as a module: SmoothL1Loss times delta, with delta for beta.
class HuberLoss : public detail::TargetLoss<HuberLoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  HuberLoss(T empty) : TargetLoss(empty) {}
  explicit HuberLoss(HuberLossArguments options = {})
      : TargetLoss("HuberLoss"), options_(options) {}
  explicit HuberLoss(std::same_as<Reduction> auto reduction)
      : HuberLoss(HuberLossArguments{.reduction = reduction}) {}
  Tensor forward(const Tensor& input, const Tensor& target,
                 CallSite site = CallSite::here()) const {
    return huber_loss(input, target, options_.reduction, options_.delta, site);
  }

 private:
  HuberLossArguments options_;
};

struct BCELossArguments {
  Tensor weight = {};  ///< broadcasts to the input
  Reduction reduction = kMean;
};
HALFGRAD_PLAIN_NAME(BCELossOptions, BCELossArguments)

/// binary_cross_entropy() as a module, for probabilities.
class BCELoss : public Callable<BCELoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  BCELoss(T empty) : Callable(empty) {}
  explicit BCELoss(BCELossArguments options = {})
      : Callable("BCELoss"), options_(std::move(options)) {
    register_buffer("weight", options_.weight);
  }
  Tensor forward(const Tensor& input, const Tensor& target) const {
    return binary_cross_entropy(input, target, options_.weight, options_.reduction);
  }

 private:
  BCELossArguments options_;
};

struct BCEWithLogitsLossArguments {
  Tensor weight = {};      ///< broadcasts to the input
  Tensor pos_weight = {};  ///< weight of the positive examples
  Reduction reduction = kMean;
};
HALFGRAD_PLAIN_NAME(BCEWithLogitsLossOptions, BCEWithLogitsLossArguments)

/// binary_cross_entropy_with_logits() as a module: the sigmoid is part of the loss.
class BCEWithLogitsLoss : public Callable<BCEWithLogitsLoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  BCEWithLogitsLoss(T empty) : Callable(empty) {}
  explicit BCEWithLogitsLoss(BCEWithLogitsLossArguments options = {})
      : Callable("BCEWithLogitsLoss"), options_(std::move(options)) {
    register_buffer("weight", options_.weight);
    register_buffer("pos_weight", options_.pos_weight);
  }
  Tensor forward(const Tensor& input, const Tensor& target) const {
    return binary_cross_entropy_with_logits(input, target, options_.weight, options_.pos_weight,
                                            options_.reduction);
  }

 private:
  BCEWithLogitsLossArguments options_;
};

struct KLDivLossArguments {
  Reduction reduction = kMean;
  bool log_target = false;
  bool batch_mean =
      false;  ///< the sum divided by the size of the first dimension, for any reduction
};
HALFGRAD_PLAIN_NAME(KLDivLossOptions, KLDivLossArguments)

/// kl_div() as a module: the Kullback-Leibler divergence of input, log-probabilities, from
/// target.
class KLDivLoss : public detail::TargetLoss<KLDivLoss> {
 public:
  template <std::same_as<std::nullptr_t> T>
  KLDivLoss(T empty) : TargetLoss(empty) {}
  explicit KLDivLoss(KLDivLossArguments options = {})
      : TargetLoss("KLDivLoss"), options_(options) {}
  explicit KLDivLoss(std::same_as<Reduction> auto reduction)
      : KLDivLoss(KLDivLossArguments{.reduction = reduction}) {}
  Tensor forward(const Tensor& input, const Tensor& target,
                 CallSite site = CallSite::here()) const {
    if (!options_.batch_mean) {
      return kl_div(input, target, options_.reduction, options_.log_target, site);
    }
    const Tensor total = kl_div(input, target, kSum, options_.log_target, site);
    return input.dim() == 0 ? total : total / static_cast<double>(input.size(0));
  }

 private:
  KLDivLossArguments options_;
};

}  // namespace halfgrad::nn
