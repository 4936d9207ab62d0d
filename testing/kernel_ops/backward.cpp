#include <cmath>
#include <numbers>

#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_ops/exact_sums.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

/// Backward kernels and products with factors, stated as formulas. Operands have the
/// order of libtorch's functions; kernel_op.h lists them.
namespace halfgrad::testing::detail {
namespace {

using In = std::vector<BoundedArray>;

constexpr std::int64_t kLast = -1;

// y (g - sum(g y)), or y g - y sum(g y), as PyTorch's CUDA kernel
BoundedArrays softmax_backward(const In& in) {
  const BoundedArray &g = in[0], &y = in[1];
  const BoundedArray total = sum(g * y, kLast, true);
  return either(y * (g - total), y * g - y * total);
}

// g - exp(y) sum(g)
BoundedArrays log_softmax_backward(const In& in) {
  return in[0] - exp(in[1]) * sum(in[0], kLast, true);
}

// With n = (x - mean) rstd and g = dy w:
//     dx = rstd (g - mean(g) - n mean(g n)),  dw = sum of dy n,  db = sum of dy, over rows
BoundedArrays layer_norm_backward(const In& in) {
  const BoundedArray &dy = in[0], rstd = unsqueeze(in[3], 1);
  const BoundedArray n = (in[1] - unsqueeze(in[2], 1)) * rstd, g = dy * in[4];
  const BoundedArray dx = rstd * (g - mean(g, kLast, true) - n * mean(g * n, kLast, true));
  return {dx, sum(dy * n, 0), sum(dy, 0)};
}

// With n = x rstd and g = dy w:
//     dx = rstd (g - n mean(g n)),  or rstd g - rstd^3 mean(g x) x
//     dw = sum of dy n over rows
BoundedArrays rms_norm_backward(const In& in) {
  const BoundedArray &dy = in[0], &x = in[1], rstd = unsqueeze(in[2], 1);
  const BoundedArray n = x * rstd, g = dy * in[3];
  const BoundedArray usual = rstd * g - pow(rstd, 3) * mean(g * x, kLast, true) * x;
  return {either(rstd * (g - n * mean(g * n, kLast, true)), usual), sum(dy * n, 0)};
}

// With c = dloss / m, dloss or the dloss of the row, p = softmax(x) or exp(log_softmax(x)), and q =
// 1 at the row's class, else 0:
//     c (p - q),  or c p - c q,  or dloss (p / m - q / m)
BoundedArrays cross_entropy_backward(const In& in, Reduction reduction) {
  const BoundedArray& x = in[1];
  const BoundedArray classes = in[2].reshape({x.size(0), 1});
  const BoundedArray ones(
      x.arithmetic(), Values{classes.sizes(), std::vector<double>(classes.elements().size(), 1)});
  const BoundedArray q = scatter_add(zeros_like(x), 1, classes, ones);
  const BoundedArray c = reduction == Reduction::mean  ? in[0] / static_cast<double>(x.size(0))
                         : reduction == Reduction::sum ? in[0]
                                                       : unsqueeze(in[0], 1);
  const BoundedArray p = either(softmax(x, 1), exp(log_softmax(x, 1)));
  const BoundedArray usual = either(c * (p - q), c * p - c * q);
  if (reduction != Reduction::mean) return usual;
  const auto rows = static_cast<double>(x.size(0));
  return either(usual, in[0] * (p / rows - q / rows));
}

// dx = dy w,  dw = dy^T x,  db = sum of the rows of dy
BoundedArrays linear_backward(const In& in) {
  return {matmul(in[1], in[2]), matmul(in[1].t(), in[0]), sum(in[1], 0)};
}

// dy (Phi(x) + x phi(x))
BoundedArrays gelu_backward(const In& in) {
  const BoundedArray& x = in[1];
  const double height = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return in[0] * (normal_cdf(x) + x * (height * exp(-0.5 * (x * x))));
}

// 1.5 a b + 0.75 c; a kernel may scale a before the product
BoundedArrays gemm(const In& in) {
  const BoundedArray start = 0.75 * in[0];
  return either(1.5 * matmul(in[1], in[2]) + start, matmul(1.5 * in[1], in[2]) + start);
}

// the sum of the rows of dy whose index is that of the row of the weight
BoundedArrays embedding_backward(const In& in) {
  const BoundedArray &dy = in[0], zeros = zeros_like(in[2]);
  return scatter_add(zeros, 0, expand(unsqueeze(in[1], 1), dy.sizes()), dy);
}

KernelOp with_exact_linear_backward(KernelOp op) {
  op.exact_sums = [](const std::vector<Values>& in, DType accumulate) {
    return std::vector<bool>{products_are_exact(accumulate, in[1], in[2]),
                             products_are_exact(accumulate, in[1], in[0]),
                             sums_are_exact(accumulate, {&in[1]})};
  };
  return op;
}

/// Only db is a sum of elements as they are.
KernelOp with_exact_db(KernelOp op) {
  op.exact_sums = [](const std::vector<Values>& in, DType accumulate) {
    return std::vector<bool>{false, false, sums_are_exact(accumulate, {&in[0]})};
  };
  return op;
}

KernelOp cross_entropy_backward_op(Reduction reduction) {
  const bool each = reduction == Reduction::none;
  KernelOp op = kernel_op(
      {.name = "cross_entropy_backward",
       .inputs = {each ? FormulaInput{"m"} : FormulaInput::scalar(),
                  {"m", "k"},
                  FormulaInput{"m"}.indices_below("k")},
       .reference = [=](const In& in) { return cross_entropy_backward(in, reduction); },
       .signature = std::string(each ? "[m]" : "[]") + ", [m, k], classes [m] -> [m, k]"});
  op.with_reduction = cross_entropy_backward_op;
  return op;
}

}  // namespace

std::vector<KernelOp> backward_ops() {
  const FormulaInput matrix{"m", "k"}, row{"k"}, column = FormulaInput{"m"}.between(0.25, 2);
  // 1 / sqrt(var + eps) is at most 316 for eps = 1e-5, and 0 for an infinite variance.
  const auto reciprocal_deviation = [](std::size_t rstd) {
    return [rstd](std::size_t operand, double x) {
      if (operand != rstd || std::isnan(x)) return x;
      return std::isinf(x) ? 0 : std::fmin(std::fabs(x), 316);
    };
  };
  return {
      takes_dim(kernel_op({.name = "softmax_backward",
                           .inputs = {matrix, matrix.between(0, 1)},
                           .reference = softmax_backward,
                           .signature = "[m, k], [m, k] -> [m, k]"})),
      takes_dim(kernel_op({.name = "log_softmax_backward",
                           .inputs = {matrix, matrix.between(-4, 0)},
                           .reference = log_softmax_backward,
                           .signature = "[m, k], [m, k] -> [m, k]"})),
      with_exact_db(kernel_op({.name = "layer_norm_backward",
                               .inputs = {matrix, matrix, {"m"}, column, row},
                               .reference = layer_norm_backward,
                               .least = {0, 0, 1},
                               .admitted = reciprocal_deviation(3),
                               .outputs = {{.name = "dx"}, {.name = "dw"}, {.name = "db"}},
                               .signature = "[m, k], [m, k], [m], [m], [k] -> [m, k], [k], [k]"})),
      kernel_op({.name = "rms_norm_backward",
                 .inputs = {matrix, matrix, column, row},
                 .reference = rms_norm_backward,
                 .least = {0, 0, 1},
                 .admitted = reciprocal_deviation(2),
                 .outputs = {{.name = "dx"}, {.name = "dw"}},
                 .signature = "[m, k], [m, k], [m], [k] -> [m, k], [k]"}),
      cross_entropy_backward_op(Reduction::mean),
      with_exact_linear_backward(
          kernel_op({.name = "linear_backward",
                     .inputs = {matrix, {"m", "n"}, {"n", "k"}},
                     .reference = linear_backward,
                     .outputs = {{.name = "dx"}, {.name = "dw"}, {.name = "db"}},
                     .signature = "[m, k], [m, n], [n, k] -> [m, k], [n, k], [n]"})),
      kernel_op({.name = "gelu_backward",
                 .inputs = {{"m", "n"}, FormulaInput{"m", "n"}.between(-6, 6)},
                 .reference = gelu_backward,
                 .signature = "[m, n], [m, n] -> [m, n]"}),
      with_exact_sum(
          kernel_op({.name = "embedding_backward",
                     .inputs = {{"m", "n"}, FormulaInput{"m"}.indices_below("k"), {"k", "n"}},
                     .reference = embedding_backward,
                     .signature = "[m, n], indices [m], [k, n] -> [k, n]"}),
          {0}),
      kernel_op({.name = "gemm",
                 .inputs = {{"m", "n"}, {"m", "k"}, {"k", "n"}},
                 .reference = gemm,
                 .signature = "[m, n], [m, k], [k, n] -> [m, n]"}),
  };
}

}  // namespace halfgrad::testing::detail
