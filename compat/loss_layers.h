#pragma once

#include <halfgrad/compat/names.h>

#include <halfgrad/compat/functional_losses.h>
#include <halfgrad/compat/layers.h>

/// The losses of functional_losses.h as modules, constructed from their options.
namespace halfgrad::nn {

namespace detail {

template <class LossOptions>
using LossFunction = Tensor (*)(const Tensor&, const Tensor&, const LossOptions&);
template <class LossOptions>
using LossFunction3 = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const LossOptions&);

// The options of a loss that libtorch prints.
std::string option_text(const HingeEmbeddingLossOptions& options);
std::string option_text(const CosineEmbeddingLossOptions& options);
std::string option_text(const TripletMarginLossOptions& options);
std::string option_text(const TripletMarginWithDistanceLossOptions& options);

}  // namespace detail

/// A loss without parameters: function(inputs..., options). The tensors of its options do not move
/// with to().
template <detail::LayerName name, class LossOptions, detail::LossFunction<LossOptions> function>
class OptionsLoss : public Callable<OptionsLoss<name, LossOptions, function>> {
 public:
  using Base = Callable<OptionsLoss>;

  template <std::same_as<std::nullptr_t> T>
  OptionsLoss(T empty) : Base(empty) {}
  explicit OptionsLoss(LossOptions with_options = {})
      : Base(name.text, detail::option_text(with_options)), options(std::move(with_options)) {}

  Tensor forward(const Tensor& input, const Tensor& target) const {
    return function(input, target, options);
  }

  LossOptions options;
};

/// A loss of three tensors.
template <detail::LayerName name, class LossOptions, detail::LossFunction3<LossOptions> function>
class OptionsLoss3 : public Callable<OptionsLoss3<name, LossOptions, function>> {
 public:
  using Base = Callable<OptionsLoss3>;

  template <std::same_as<std::nullptr_t> T>
  OptionsLoss3(T empty) : Base(empty) {}
  explicit OptionsLoss3(LossOptions with_options = {})
      : Base(name.text, detail::option_text(with_options)), options(std::move(with_options)) {}

  Tensor forward(const Tensor& a, const Tensor& b, const Tensor& c) const {
    return function(a, b, c, options);
  }

  LossOptions options;
};

using HingeEmbeddingLoss =
    OptionsLoss<"HingeEmbeddingLoss", HingeEmbeddingLossOptions, functional::hinge_embedding_loss>;
using MultiMarginLoss =
    OptionsLoss<"MultiMarginLoss", MultiMarginLossOptions, functional::multi_margin_loss>;
using MultiLabelMarginLoss = OptionsLoss<"MultiLabelMarginLoss", MultiLabelMarginLossOptions,
                                         functional::multilabel_margin_loss>;
using SoftMarginLoss =
    OptionsLoss<"SoftMarginLoss", SoftMarginLossOptions, functional::soft_margin_loss>;
using MultiLabelSoftMarginLoss =
    OptionsLoss<"MultiLabelSoftMarginLoss", MultiLabelSoftMarginLossOptions,
                functional::multilabel_soft_margin_loss>;
using PoissonNLLLoss =
    OptionsLoss<"PoissonNLLLoss", PoissonNLLLossOptions, functional::poisson_nll_loss>;
using CosineEmbeddingLoss = OptionsLoss3<"CosineEmbeddingLoss", CosineEmbeddingLossOptions,
                                         functional::cosine_embedding_loss>;
using TripletMarginLoss =
    OptionsLoss3<"TripletMarginLoss", TripletMarginLossOptions, functional::triplet_margin_loss>;
using TripletMarginWithDistanceLoss =
    OptionsLoss3<"TripletMarginWithDistanceLoss", TripletMarginWithDistanceLossOptions,
                 functional::triplet_margin_with_distance_loss>;
using MarginRankingLoss =
    OptionsLoss3<"MarginRankingLoss", MarginRankingLossOptions, functional::margin_ranking_loss>;

}  // namespace halfgrad::nn
