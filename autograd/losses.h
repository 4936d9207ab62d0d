#pragma once

#include <cstdint>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/warning.h>

/// Losses: ops that compare an output with a target, each in `ops/<name>.cpp`. Losses with a
/// CallSite broadcast input and target, and warn if their shapes differ, once per calling line of
/// code, as PyTorch does in Python.
namespace halfgrad {

enum class Reduction : std::uint8_t {
  none,
  mean,
  sum,
  // libtorch's names. NOLINTBEGIN(readability-identifier-naming)
  None = none,
  Mean = mean,
  Sum = sum,
  // NOLINTEND(readability-identifier-naming)
};
inline constexpr Reduction kNone = Reduction::none;
inline constexpr Reduction kMean = Reduction::mean;
inline constexpr Reduction kSum = Reduction::sum;

/// input: logits [n, c, ...] or [c]. target: class indices, int64 or uint8 [n, ...] or [], or
/// probabilities of input's shape. With Reduction::none the result is [n, ...].
struct CrossEntropyOptions {
  Tensor weight = {};  ///< [c]
  std::int64_t ignore_index = -100;
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0.0;
};
Tensor cross_entropy(const Tensor& input, const Tensor& target,
                     const CrossEntropyOptions& options = {});
/// input: log-probabilities [n, c, ...] or [c]. target: int64 or uint8 [n, ...] or [].
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
/// `target` may lack dimensions of size 1 that self has, and the other way round: [n] for [n, 1].
Tensor binary_cross_entropy(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                            Reduction reduction = Reduction::mean);
Tensor binary_cross_entropy_with_logits(const Tensor& self, const Tensor& target,
                                        const Tensor& weight = {}, const Tensor& pos_weight = {},
                                        Reduction reduction = Reduction::mean);
/// target * (log target - self), or exp(target) * (target - self) with log_target. The mean is over
/// all elements.
Tensor kl_div(const Tensor& self, const Tensor& target, Reduction reduction = Reduction::mean,
              bool log_target = false, CallSite site = CallSite::here());

}  // namespace halfgrad
