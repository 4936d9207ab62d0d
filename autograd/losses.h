#pragma once

#include <cstdint>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/warning.h>

/// The ops that compare an output with a target; each lives in ops/<name>.cpp. Those with a
/// CallSite let input and target broadcast, and warn of shapes that differ: once for each line of
/// code that calls them, as PyTorch in Python.
namespace halfgrad {

enum class Reduction : std::uint8_t { none, mean, sum };
inline constexpr Reduction kNone = Reduction::none;
inline constexpr Reduction kMean = Reduction::mean;
inline constexpr Reduction kSum = Reduction::sum;

/// input [n, c, ...] (or [c]) logits; target: class indices int64 [n, ...] (or []), or
/// probabilities of input's shape. The loss of each is [n, ...], the mean that of all.
struct CrossEntropyOptions {
  Tensor weight = {};  ///< [c]
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0.0;
};
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options = {});
/// input [n, c, ...] (or [c]) log-probabilities; target int64 [n, ...] (or []).
Tensor nll_loss(const Tensor& input, const Tensor& target, const Tensor& weight = {},
                Reduction reduction = Reduction::mean, std::int64_t ignore_index = -100);
Tensor mse_loss(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::mean,
                CallSite site = CallSite::here());
Tensor l1_loss(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::mean,
               CallSite site = CallSite::here());
Tensor smooth_l1_loss(const Tensor& self, const Tensor& target,
                      Reduction reduction = Reduction::mean, double beta = 1.0,
                      CallSite site = CallSite::here());
Tensor huber_loss(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::mean,
                  double delta = 1.0, CallSite site = CallSite::here());
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight = {}, const Tensor& pos_weight = {},
                                        Reduction reduction = Reduction::mean);
/// target * (log target - self), or exp(target) * (target - self) with log_target. Mean is over all
/// elements.
Tensor kl_div(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::mean,
              bool log_target = false, CallSite site = CallSite::here());

}  // namespace halfgrad
