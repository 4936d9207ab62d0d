#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include <halfgrad/autograd/losses.h>
#include <halfgrad/compat/layer_options.h>
#include <halfgrad/compat/option.h>
#include <halfgrad/nn/loss.h>

/// libtorch's options of losses. `nn::MSELoss(nn::MSELossOptions(kSum))` and
/// `F::mse_loss(x, y, F::MSELossFuncOptions(kSum))` take the same class.
namespace halfgrad::nn {

class MSELossOptions {
 public:
  MSELossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  operator MSELoss() const { return MSELoss({.reduction = reduction_}); }
  TORCH_ARG(Reduction, reduction);
};
class L1LossOptions {
 public:
  L1LossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  operator L1Loss() const { return L1Loss({.reduction = reduction_}); }
  TORCH_ARG(Reduction, reduction);
};
class SmoothL1LossOptions {
 public:
  SmoothL1LossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  operator SmoothL1Loss() const {
    return SmoothL1Loss({.reduction = reduction_, .beta = beta_.value_or(1)});
  }
  TORCH_ARG(Reduction, reduction);
  TORCH_ARG(std::optional<double>, beta) = std::nullopt;
};
class HuberLossOptions {
 public:
  HuberLossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  operator HuberLoss() const { return HuberLoss({.reduction = reduction_, .delta = delta_}); }
  TORCH_ARG(Reduction, reduction);
  TORCH_ARG(double, delta) = 1.0;
};
class BCELossOptions {
 public:
  operator BCELoss() const { return BCELoss({.weight = weight_, .reduction = reduction_}); }
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Reduction, reduction) = kMean;
};
class BCEWithLogitsLossOptions {
 public:
  operator BCEWithLogitsLoss() const {
    return BCEWithLogitsLoss(
        {.weight = weight_, .pos_weight = pos_weight_, .reduction = reduction_});
  }
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Reduction, reduction) = kMean;
  TORCH_ARG(Tensor, pos_weight) = {};
};
class NLLLossOptions {
 public:
  operator NLLLoss() const {
    return NLLLoss({.weight = weight_, .ignore_index = ignore_index_, .reduction = reduction_});
  }
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(std::int64_t, ignore_index) = -100;
  TORCH_ARG(Reduction, reduction) = kMean;
};
class CrossEntropyLossOptions {
 public:
  operator CrossEntropyOptions() const {
    return {.weight = weight_,
            .ignore_index = ignore_index_,
            .reduction = reduction_,
            .label_smoothing = label_smoothing_};
  }
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(std::int64_t, ignore_index) = -100;
  TORCH_ARG(Reduction, reduction) = kMean;
  TORCH_ARG(double, label_smoothing) = 0.0;
};

/// kNone, kSum, kMean or kBatchMean.
using KLDivReduction = std::variant<Reduction, enumtype::kBatchMean>;
class KLDivLossOptions {
 public:
  KLDivLossOptions(KLDivReduction reduction = kMean) : reduction_(reduction) {}
  KLDivLossOptions(Reduction reduction) : reduction_(reduction) {}
  KLDivLossOptions(enumtype::kBatchMean reduction) : reduction_(reduction) {}
  operator KLDivLoss() const;
  TORCH_ARG(KLDivReduction, reduction);
  TORCH_ARG(bool, log_target) = false;
};

// --- Losses that only this folder has: functions.h documents them ---
class HingeEmbeddingLossOptions {
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(Reduction, reduction) = kMean;
};
class MultiMarginLossOptions {
  TORCH_ARG(std::int64_t, p) = 1;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Reduction, reduction) = kMean;
};
class CosineEmbeddingLossOptions {
  TORCH_ARG(double, margin) = 0.0;
  TORCH_ARG(Reduction, reduction) = kMean;
};
class MultiLabelMarginLossOptions {
 public:
  MultiLabelMarginLossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  TORCH_ARG(Reduction, reduction);
};
class SoftMarginLossOptions {
 public:
  SoftMarginLossOptions(Reduction reduction = kMean) : reduction_(reduction) {}
  TORCH_ARG(Reduction, reduction);
};
class MultiLabelSoftMarginLossOptions {
  TORCH_ARG(Tensor, weight) = {};
  TORCH_ARG(Reduction, reduction) = kMean;
};
class TripletMarginLossOptions {
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(double, p) = 2.0;
  TORCH_ARG(double, eps) = 1e-6;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(Reduction, reduction) = kMean;
};
class TripletMarginWithDistanceLossOptions {
 public:
  using DistanceFunction = std::function<Tensor(const Tensor&, const Tensor&)>;
  using distance_function_t = DistanceFunction;  ///< libtorch's names
  using reduction_t = Reduction;
  /// When absent pairwise_distance.
  TORCH_ARG(std::optional<DistanceFunction>, distance_function) = std::nullopt;
  TORCH_ARG(double, margin) = 1.0;
  TORCH_ARG(bool, swap) = false;
  TORCH_ARG(Reduction, reduction) = kMean;
};
class PoissonNLLLossOptions {
  TORCH_ARG(bool, log_input) = true;
  TORCH_ARG(bool, full) = false;
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(Reduction, reduction) = kMean;
};
class MarginRankingLossOptions {
  TORCH_ARG(double, margin) = 0.0;
  TORCH_ARG(Reduction, reduction) = kMean;
};

}  // namespace halfgrad::nn
