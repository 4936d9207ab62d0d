#include <halfgrad/autograd/losses.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/reduction.h>

/// Losses as functions.
namespace halfgrad::python {

Reduction reduction_of(const std::string& name) {
  if (name == "none") return kNone;
  if (name == "mean") return kMean;
  if (name == "sum") return kSum;
  detail::fail("reduction", "expected \"none\", \"mean\" or \"sum\", got \"{}\"", name);
}

namespace {

nb::arg_v reduction() { return nb::arg("reduction") = "mean"; }

void bind_class_losses(nb::module_& module) {
  module.def(
      "cross_entropy",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight,
         std::int64_t ignore_index, const std::string& reduction, double label_smoothing) {
        return cross_entropy(input, target,
                             {.weight = or_undefined(weight),
                              .ignore_index = ignore_index,
                              .reduction = reduction_of(reduction),
                              .label_smoothing = label_smoothing});
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), "ignore_index"_a = -100, reduction(),
      "label_smoothing"_a = 0.0, ReleaseGil(),
      "-log softmax(input)[target]. input: logits [n, c, ...] or [c]; target: int64 classes\n"
      "[n, ...] or [], or probabilities of the input's shape; weight: [c].");
  module.def(
      "nll_loss",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight,
         std::int64_t ignore_index, const std::string& reduction) {
        return nll_loss(input, target, or_undefined(weight), reduction_of(reduction), ignore_index);
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), "ignore_index"_a = -100, reduction(),
      ReleaseGil(), "-input[target], for log-probabilities [n, c, ...] or [c].");
  module.def(
      "kl_div",
      [](const Tensor& input, const Tensor& target, const std::string& reduction, bool log_target) {
        if (reduction == "batchmean") {
          const Tensor total = kl_div(input, target, kSum, log_target);
          return input.dim() == 0 ? total : total / static_cast<double>(input.size(0));
        }
        return kl_div(input, target, reduction_of(reduction), log_target);
      },
      "input"_a, "target"_a, reduction(), "log_target"_a = false, ReleaseGil(),
      "target * (log target - input). The mean is over all elements; \"batchmean\" is the sum\n"
      "divided by size(0).");
}

void bind_binary_losses(nb::module_& module) {
  module.def(
      "binary_cross_entropy",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight,
         const std::string& reduction) {
        if (input.sizes() != target.sizes()) {
          detail::fail("binary_cross_entropy", "expected a target of shape {}, got {}",
                       input.sizes(), target.sizes());
        }
        return binary_cross_entropy(input, target, or_undefined(weight), reduction_of(reduction));
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), reduction(), ReleaseGil(),
      "For probabilities in [0, 1]. Raises under autocast: 16 bits are not enough.");
  module.def(
      "binary_cross_entropy_with_logits",
      [](const Tensor& input, const Tensor& target, const OptionalTensor& weight,
         const std::string& reduction, const OptionalTensor& pos_weight) {
        return binary_cross_entropy_with_logits(input, target, or_undefined(weight),
                                                or_undefined(pos_weight), reduction_of(reduction));
      },
      "input"_a, "target"_a, "weight"_a = nb::none(), reduction(), "pos_weight"_a = nb::none(),
      ReleaseGil(), "binary_cross_entropy of sigmoid(input).");
}

void bind_distances(nb::module_& module) {
  using Distance = Tensor (*)(const Tensor&, const Tensor&, Reduction, CallSite);
  const auto bind = [&](const char* name, Distance function, const char* doc) {
    module.def(
        name,
        [function](const Tensor& input, const Tensor& target, const std::string& reduction) {
          return function(input, target, reduction_of(reduction), CallSite::here());
        },
        "input"_a, "target"_a, reduction(), ReleaseGil(), doc);
  };
  bind("mse_loss", &mse_loss, "(input - target)^2, by default its mean.");
  bind("l1_loss", &l1_loss, "|input - target|, by default its mean.");
  module.def(
      "smooth_l1_loss",
      [](const Tensor& input, const Tensor& target, const std::string& reduction, double beta) {
        return smooth_l1_loss(input, target, reduction_of(reduction), beta);
      },
      "input"_a, "target"_a, reduction(), "beta"_a = 1.0, ReleaseGil(),
      "d^2 / (2 beta) for |d| < beta, else |d| - beta / 2, where d = input - target.");
  module.def(
      "huber_loss",
      [](const Tensor& input, const Tensor& target, const std::string& reduction, double delta) {
        return huber_loss(input, target, reduction_of(reduction), delta);
      },
      "input"_a, "target"_a, reduction(), "delta"_a = 1.0, ReleaseGil(),
      "d^2 / 2 for |d| < delta, else delta (|d| - delta / 2), where d = input - target.");
}

}  // namespace

void bind_losses(nb::module_& module) {
  bind_class_losses(module);
  bind_binary_losses(module);
  bind_distances(module);
}

}  // namespace halfgrad::python
