#include <halfgrad/compat/functional_losses.h>

#include <halfgrad/core/fail.h>

namespace halfgrad::nn::functional {

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  return halfgrad::mse_loss(input, target, options.reduction());
}
Tensor l1_loss(const Tensor& input, const Tensor& target, const L1LossFuncOptions& options) {
  return halfgrad::l1_loss(input, target, options.reduction());
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options) {
  return halfgrad::smooth_l1_loss(input, target, options.reduction(), options.beta().value_or(1));
}
Tensor smooth_l1_loss(const Tensor& input, const Tensor& target,
                      const SmoothL1LossFuncOptions& options, double beta) {
  if (options.beta()) {
    halfgrad::detail::fail("smooth_l1_loss", "expected one beta, got {} and {}", *options.beta(),
                           beta);
  }
  return halfgrad::smooth_l1_loss(input, target, options.reduction(), beta);
}
Tensor huber_loss(const Tensor& input, const Tensor& target, const HuberLossFuncOptions& options) {
  return halfgrad::huber_loss(input, target, options.reduction(), options.delta());
}
Tensor binary_cross_entropy(const Tensor& input, const Tensor& target,
                            const BinaryCrossEntropyFuncOptions& options) {
  return halfgrad::binary_cross_entropy(input, target, options.weight(), options.reduction());
}
Tensor binary_cross_entropy_with_logits(const Tensor& input, const Tensor& target,
                                        const BinaryCrossEntropyWithLogitsFuncOptions& options) {
  return halfgrad::binary_cross_entropy_with_logits(input, target, options.weight(),
                                                    options.pos_weight(), options.reduction());
}
Tensor nll_loss(const Tensor& input, const Tensor& target, const NLLLossFuncOptions& options) {
  return halfgrad::nll_loss(input, target, options.weight(), options.reduction(),
                            options.ignore_index());
}
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyFuncOptions& options) {
  return halfgrad::cross_entropy(input, target, static_cast<CrossEntropyOptions>(options));
}

Tensor kl_div(const Tensor& input, const Tensor& target, const KLDivFuncOptions& options) {
  if (const auto* reduction = std::get_if<Reduction>(&options.reduction())) {
    return halfgrad::kl_div(input, target, *reduction, options.log_target());
  }
  const Tensor total = halfgrad::kl_div(input, target, kSum, options.log_target());
  return input.dim() == 0 ? total : total / static_cast<double>(input.size(0));
}

Tensor hinge_embedding_loss(const Tensor& input, const Tensor& target,
                            const HingeEmbeddingLossFuncOptions& options) {
  return halfgrad::hinge_embedding_loss(input, target, options.margin(), options.reduction());
}
Tensor multi_margin_loss(const Tensor& input, const Tensor& target,
                         const MultiMarginLossFuncOptions& options) {
  return halfgrad::multi_margin_loss(input, target, options.p(), options.margin(), options.weight(),
                                     options.reduction());
}
Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             const CosineEmbeddingLossFuncOptions& options) {
  return halfgrad::cosine_embedding_loss(input1, input2, target, options.margin(),
                                         options.reduction());
}
Tensor multilabel_margin_loss(const Tensor& input, const Tensor& target,
                              const MultilabelMarginLossFuncOptions& options) {
  return halfgrad::multilabel_margin_loss(input, target, options.reduction());
}
Tensor soft_margin_loss(const Tensor& input, const Tensor& target,
                        const SoftMarginLossFuncOptions& options) {
  return halfgrad::soft_margin_loss(input, target, options.reduction());
}
Tensor multilabel_soft_margin_loss(const Tensor& input, const Tensor& target,
                                   const MultilabelSoftMarginLossFuncOptions& options) {
  return halfgrad::multilabel_soft_margin_loss(input, target, options.weight(),
                                               options.reduction());
}
Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           const TripletMarginLossFuncOptions& options) {
  return halfgrad::triplet_margin_loss(anchor, positive, negative, options.margin(), options.p(),
                                       options.eps(), options.swap(), options.reduction());
}

Tensor triplet_margin_with_distance_loss(const Tensor& anchor, const Tensor& positive,
                                         const Tensor& negative,
                                         const TripletMarginWithDistanceLossFuncOptions& options) {
  if (!(options.margin() > 0)) {
    halfgrad::detail::fail("triplet_margin_with_distance_loss", "expected a margin > 0, got {}",
                           options.margin());
  }
  const auto distance = [&](const Tensor& a, const Tensor& b) {
    return options.distance_function() ? (*options.distance_function())(a, b)
                                       : pairwise_distance(a, b);
  };
  const Tensor near = distance(anchor, positive);
  Tensor far = distance(anchor, negative);
  if (options.swap()) far = minimum(far, distance(positive, negative));
  return halfgrad::detail::reduced(clamp_min(near - far + options.margin(), 0),
                                   options.reduction());
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target,
                        const PoissonNLLLossFuncOptions& options) {
  return halfgrad::poisson_nll_loss(input, target, options.log_input(), options.full(),
                                    options.eps(), options.reduction());
}
Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           const MarginRankingLossFuncOptions& options) {
  return halfgrad::margin_ranking_loss(input1, input2, target, options.margin(),
                                       options.reduction());
}

}  // namespace halfgrad::nn::functional

halfgrad::nn::KLDivLossOptions::operator KLDivLoss() const {
  if (const auto* reduction = std::get_if<Reduction>(&reduction_)) {
    return KLDivLoss({.reduction = *reduction, .log_target = log_target_});
  }
  return KLDivLoss({.log_target = log_target_, .batch_mean = true});
}
