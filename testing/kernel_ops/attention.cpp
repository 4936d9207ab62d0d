#include <cmath>
#include <numbers>

#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

/// Attention and its backward kernel, stated as formulas.
namespace halfgrad::testing::detail {
namespace {

using In = std::vector<BoundedArray>;

KernelOp attention(const char* name, bool is_causal) {
  return kernel_op({.name = name,
                    .inputs = {{2, "m", "k"}, {2, "n", "k"}, {2, "n", "k"}},
                    .reference =
                        [is_causal](const In& in) {
                          return scaled_dot_product_attention(in[0], in[1], in[2], is_causal);
                        },
                    .least = {0, 1, 1},
                    .outputs = {{.name = "output"}, {.name = "logsumexp", .wide = true}},
                    .signature = "[2, m, k], [2, n, k], [2, n, k] -> [2, m, k], [2, m]"});
}

// With c = 1 / sqrt(k), p = exp(c q k^T - logsumexp), which a kernel may compute by exp2:
//     dv = p^T dy,  ds = p (dy v^T - sum(dy output)),  dq = c ds k,  dk = c ds^T q
// A kernel may store p and ds in the dtype of the outputs for the products.
BoundedArrays attention_backward(const In& in) {
  const BoundedArray &dy = in[0], &q = in[1], &k = in[2], &v = in[3];
  const BoundedArray l = unsqueeze(in[5], 2);
  const double c = 1 / std::sqrt(static_cast<double>(q.size(2)));
  const BoundedArray s = matmul(c * q, k.transpose(1, 2));
  const BoundedArray by_exp2 =
      (std::numbers::log2e * s - std::numbers::log2e * l) / std::numbers::log2e;
  const BoundedArray p = either(exp(s - l), exp(by_exp2));
  const BoundedArray delta = sum(dy * in[4], -1, true);
  const BoundedArray ds = stored(p * (matmul(dy, v.transpose(1, 2)) - delta));
  return {c * matmul(ds, k), c * matmul(ds.transpose(1, 2), q),
          matmul(stored(p).transpose(1, 2), dy)};
}

KernelOp attention_backward_op() {
  const FormulaInput queries{2, "m", "k"}, keys{2, "n", "k"}, rows{2, "m"};
  return kernel_op({.name = "scaled_dot_product_attention_backward",
                    .inputs = {queries, queries, keys, keys, queries, rows.between(0, 4)},
                    .reference = attention_backward,
                    .least = {0, 0, 1},
                    .outputs = {{.name = "dq"}, {.name = "dk"}, {.name = "dv"}},
                    .signature = "[2, m, k], [2, m, k], [2, n, k], [2, n, k], [2, m, k], [2, m] -> "
                                 "[2, m, k], [2, n, k], [2, n, k]"});
}

}  // namespace

std::vector<KernelOp> attention_ops() {
  return {attention("scaled_dot_product_attention", false),
          attention("scaled_dot_product_attention_causal", true), attention_backward_op()};
}

}  // namespace halfgrad::testing::detail
