#include <cmath>
#include <concepts>
#include <numbers>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/compat/functions.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

void expect_same_shape(const char* op, const Tensor& input, const Tensor& target) {
  if (input.sizes() == target.sizes()) return;
  detail::fail(op, "expected input and target of one shape, got {} and {}", input.sizes(),
               target.sizes());
}

void expect_broadcast(const char* op, const Tensor& a, const Tensor& b) {
  static_cast<void>(broadcast_shapes(a.sizes(), b.sizes(), op));
}

/// [n, c] of [n, c] or [c].
Tensor rows_of(const char* op, const Tensor& input) {
  if (input.dim() < 1 || input.dim() > 2) {
    detail::fail(op, "expected shape [n, c] or [c], got {}", input.sizes());
  }
  return input.dim() == 1 ? input.unsqueeze(0) : input;
}

/// Returns compute(inputs...), which autocast treats as one op that runs in float32.
template <class F, std::same_as<Tensor>... In>
Tensor as_loss(const char* name, const F& compute, const In&... inputs) {
  return detail::composite(name, Precision::wide_range, compute, inputs...);
}

}  // namespace

Tensor detail::reduced(const Tensor& losses, Reduction reduction) {
  if (reduction == kNone) return losses;
  return reduction == kMean ? losses.mean() : losses.sum();
}

Tensor hinge_embedding_loss(const Tensor& self, const Tensor& target, double margin,
                            Reduction reduction) {
  expect_broadcast("hinge_embedding_loss", self, target);
  const auto compute = [=](const Tensor& x, const Tensor& label) {
    const Tensor zero = zeros_like(x.detach());
    const Tensor far = where(label != 1, clamp_min(margin - x, 0), zero);
    const Tensor near = where(label != -1, x, zero);
    return detail::reduced(far + near, reduction);
  };
  return as_loss("hinge_embedding_loss", compute, self, target);
}

Tensor margin_ranking_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                           double margin, Reduction reduction) {
  const Shape inputs = broadcast_shapes(input1.sizes(), input2.sizes(), "margin_ranking_loss");
  static_cast<void>(broadcast_shapes(inputs, target.sizes(), "margin_ranking_loss"));
  const auto compute = [=](const Tensor& a, const Tensor& b, const Tensor& order) {
    return detail::reduced(clamp_min(-order * (a - b) + margin, 0), reduction);
  };
  return as_loss("margin_ranking_loss", compute, input1, input2, target);
}

Tensor cosine_embedding_loss(const Tensor& input1, const Tensor& input2, const Tensor& target,
                             double margin, Reduction reduction) {
  expect_broadcast("cosine_embedding_loss", input1, input2);
  constexpr double kEpsilon = 1e-12;
  const auto compute = [=](const Tensor& a, const Tensor& b, const Tensor& label) {
    const Tensor squares = (sum(a * a, -1) + kEpsilon) * (sum(b * b, -1) + kEpsilon);
    const Tensor cosine = sum(a * b, -1) / sqrt(squares);
    const Tensor zero = zeros_like(cosine.detach());
    const Tensor losses = where(label == 1, 1 - cosine, zero) +
                          where(label == -1, clamp_min(cosine - margin, 0), zero);
    return detail::reduced(losses, reduction);
  };
  return as_loss("cosine_embedding_loss", compute, input1, input2, target);
}

Tensor triplet_margin_loss(const Tensor& anchor, const Tensor& positive, const Tensor& negative,
                           double margin, double p, double eps, bool swap, Reduction reduction) {
  if (!(margin > 0)) detail::fail("triplet_margin_loss", "expected a margin > 0, got {}", margin);
  expect_broadcast("triplet_margin_loss", anchor, positive);
  expect_broadcast("triplet_margin_loss", anchor, negative);
  const auto compute = [=](const Tensor& a, const Tensor& same, const Tensor& other) {
    const Tensor near = pairwise_distance(a, same, p, eps);
    Tensor far = pairwise_distance(a, other, p, eps);
    if (swap) far = minimum(far, pairwise_distance(same, other, p, eps));
    return detail::reduced(clamp_min(near - far + margin, 0), reduction);
  };
  return as_loss("triplet_margin_loss", compute, anchor, positive, negative);
}

Tensor soft_margin_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  expect_broadcast("soft_margin_loss", self, target);
  const auto compute = [=](const Tensor& x, const Tensor& label) {
    return detail::reduced(softplus(-label * x), reduction);
  };
  return as_loss("soft_margin_loss", compute, self, target);
}

Tensor multi_margin_loss(const Tensor& self, const Tensor& target, Scalar p, Scalar margin,
                         const Tensor& weight, Reduction reduction) {
  const double exponent = p.to<double>();
  if (exponent != 1 && exponent != 2) {
    detail::fail("multi_margin_loss", "expected p of 1 or 2, got {}", exponent);
  }
  const auto compute = [&](const Tensor& input) {
    const Tensor x = rows_of("multi_margin_loss", input);
    const Tensor classes = target.dim() == 0 ? target.unsqueeze(0) : target;
    const Tensor index = classes.unsqueeze(1);
    const Tensor own_outputs =
        detail::with_op_name("multi_margin_loss", "gather", [&] { return gather(x, 1, index); });
    Tensor losses = pow(clamp_min(margin.to<double>() - own_outputs + x, 0), p);
    if (weight.defined()) losses = losses * index_select(weight, 0, classes).unsqueeze(1);
    const Tensor own = one_hot(classes, x.size(1)).to(kBool);
    losses = masked_fill(losses, own, 0).sum(1) / static_cast<double>(x.size(1));
    if (input.dim() == 1 && reduction == kNone) losses = losses.squeeze(0);
    return detail::reduced(losses, reduction);
  };
  return as_loss("multi_margin_loss", compute, self);
}

Tensor multilabel_margin_loss(const Tensor& self, const Tensor& target, Reduction reduction) {
  expect_same_shape("multilabel_margin_loss", self, target);
  const auto compute = [&](const Tensor& input) {
    const Tensor x = rows_of("multilabel_margin_loss", input);
    const Tensor labels = rows_of("multilabel_margin_loss", target);
    // The labels of a row end at its first -1.
    const Tensor valid = cumsum((labels < 0).to(kInt64), 1) == 0;
    const Tensor index = masked_fill(labels, ~valid, 0);
    const Tensor count = scatter_add(zeros_like(x.detach()), 1, index, valid.to(x.dtype()));
    const Tensor own = gather(x, 1, index);  // [n, c]: the outputs of the labels
    const Tensor differences = clamp_min(1 - own.unsqueeze(2) + x.unsqueeze(1), 0);
    const Tensor counted = (valid.unsqueeze(2) & (count == 0).unsqueeze(1));
    Tensor losses =
        masked_fill(differences, ~counted, 0).sum({1, 2}) / static_cast<double>(x.size(1));
    if (input.dim() == 1 && reduction == kNone) losses = losses.squeeze(0);
    return detail::reduced(losses, reduction);
  };
  return as_loss("multilabel_margin_loss", compute, self);
}

Tensor multilabel_soft_margin_loss(const Tensor& self, const Tensor& target, const Tensor& weight,
                                   Reduction reduction) {
  expect_broadcast("multilabel_soft_margin_loss", self, target);
  Tensor losses = -(target * log_sigmoid(self) + (1 - target) * log_sigmoid(-self));
  if (weight.defined()) losses = losses * weight;
  return detail::reduced(losses.mean(-1), reduction);
}

Tensor poisson_nll_loss(const Tensor& input, const Tensor& target, bool log_input, bool full,
                        double eps, Reduction reduction) {
  expect_broadcast("poisson_nll_loss", input, target);
  const auto compute = [=](const Tensor& x, const Tensor& count) {
    Tensor losses = log_input ? exp(x) - count * x : x - count * log(x + eps);
    if (full) {
      // Stirling's approximation of log(count!), for counts above 1.
      const Tensor safe = clamp_min(count, 1);
      const Tensor stirling = safe * log(safe) - safe + log(safe * (2 * std::numbers::pi)) * 0.5;
      losses = losses + masked_fill(stirling, count <= 1, 0);
    }
    return detail::reduced(losses, reduction);
  };
  return as_loss("poisson_nll_loss", compute, input, target);
}

}  // namespace halfgrad
