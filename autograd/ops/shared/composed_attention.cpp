#include <halfgrad/autograd/ops/shared/composed_attention.h>

#include <limits>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad::detail {
namespace {

constexpr double kNotSeen = -std::numeric_limits<double>::infinity();

Tensor transposed(const Tensor& matrices) { return transpose(matrices, -2, -1); }

// Element [i, j] is true for a key j > i.
Tensor future_keys(const Tensor& scores) {
  const CreationOptions options{.dtype = kInt64, .device = scores.device()};
  return arange(scores.size(-1), options).unsqueeze(0) >
         arange(scores.size(-2), options).unsqueeze(1);
}

}  // namespace

Tensor ComposedAttention::widened(const Tensor& operand) const {
  return operand.to(promote_types(query.dtype(), DType::f32));
}

Tensor ComposedAttention::weights() const {
  Tensor scores = matmul(widened(query), transposed(widened(key))) * rule.scale;
  if (rule.is_causal) scores = masked_fill(scores, future_keys(scores), kNotSeen);
  if (mask.defined()) {
    scores = mask.dtype() == kBool ? masked_fill(scores, logical_not(mask), kNotSeen)
                                   : scores + widened(mask);
  }
  if (scores.size(-1) == 0) return scores;
  Tensor sees_nothing;  // queries whose scores are all -inf: softmax would give NaN, not 0
  {
    const NoGradGuard no_grad;
    sees_nothing = amax(scores, Shape{-1}, true) == kNotSeen;
  }
  return masked_fill(softmax(masked_fill(scores, sees_nothing, 0), -1), sees_nothing, 0);
}

Tensor ComposedAttention::output() const {
  const Tensor p = dropout_by_key(weights(), rule.dropout_p, rule.dropout_key);
  return matmul(p, widened(value)).to(query.dtype());
}

// With m = drop(1), elementwise:
//     dv = (m p)^T dy,  dp = m (dy v^T),  ds = p (dp - sum_j dp p),  dmask = ds
//     dq = scale ds k,  dk = scale ds^T q
ComposedAttention::Gradients ComposedAttention::gradients(const Tensor& dy) const {
  const auto drop = [&](const Tensor& x) {
    return dropout_by_key(x, rule.dropout_p, rule.dropout_key);
  };
  const Tensor p = weights(), wide_dy = widened(dy);
  const Tensor dp = drop(matmul(wide_dy, transposed(widened(value))));
  const Tensor ds = p * (dp - sum(dp * p, Shape{-1}, true));
  return {matmul(ds, widened(key)) * rule.scale,
          matmul(transposed(ds), widened(query)) * rule.scale, matmul(transposed(drop(p)), wide_dy),
          ds};
}

}  // namespace halfgrad::detail
