#include <algorithm>
#include <cmath>
#include <numeric>

#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_ops/exact_sums.h>
#include <halfgrad/testing/kernel_ops/judged_op.h>

namespace halfgrad::testing::detail {
namespace {

using halfgrad::detail::place_of_extreme;
const std::string kToRows = "[m, k] -> [m]", kSame = "[m, k] -> [m, k]";

KernelOp reduction(const char* name) {
  return takes_dim(judged(name, kToRows, one_matrix, row_results));
}

KernelOp of_rows(const char* name) {
  return takes_dim(in_place(judged(name, kSame, one_matrix, same_matrix)));
}

/// f(row) of every row, exactly.
template <class F>
KernelOp chosen(const char* name, const F& f) {
  KernelOp op = op_of(name, kToRows, one_matrix, row_results);
  judge_exactly(op, [f](const std::vector<Values>& in) {
    std::vector<double> out;
    const std::int64_t k = in[0].sizes[1];
    for (std::int64_t row = 0; row < in[0].sizes[0]; ++row) {
      const auto first = in[0].data.begin() + row * k;
      out.push_back(f(std::vector<double>(first, first + k)));
    }
    return out;
  });
  return takes_dim(op);
}

template <bool kLargest>
KernelOp extreme(const char* name) {
  return needs_rows(chosen(
      name, [](const std::vector<double>& row) { return row[place_of_extreme(row, kLargest)]; }));
}

template <bool kLargest>
KernelOp place(const char* name) {
  KernelOp op = needs_rows(chosen(name, [](const std::vector<double>& row) {
    return static_cast<double>(place_of_extreme(row, kLargest));
  }));
  op.output_dtype = [](DType) { return kInt64; };
  return op;
}

/// Stable and ascending; NaN is above every other value.
KernelOp order_of_rows() {
  KernelOp op = op_of("argsort", kSame, one_matrix, same_matrix);
  judge_exactly(op, [](const std::vector<Values>& in) {
    const auto below = [](double a, double b) {
      return a < b || (std::isnan(b) && !std::isnan(a));
    };
    const std::int64_t k = in[0].sizes[1];
    std::vector<double> out(in[0].data.size());
    for (std::int64_t row = 0; row < in[0].sizes[0]; ++row) {
      const auto x = in[0].data.begin() + row * k;
      const auto order = out.begin() + row * k;
      std::iota(order, order + k, 0.0);
      std::stable_sort(order, order + k, [&](double i, double j) {
        return below(x[static_cast<std::ptrdiff_t>(i)], x[static_cast<std::ptrdiff_t>(j)]);
      });
    }
    return out;
  });
  op.output_dtype = [](DType) { return kInt64; };
  return op;
}

template <bool kAll>
KernelOp truth(const char* name) {
  KernelOp op = chosen(name, [](const std::vector<double>& row) {
    const auto holds = [](double x) { return x != 0; };
    return kAll ? std::all_of(row.begin(), row.end(), holds)
                : std::any_of(row.begin(), row.end(), holds);
  });
  op.operands = [](const Dims& d) {
    return Specs{{.sizes = {d.m, d.k}, .kind = OperandSpec::Kind::boolean}};
  };
  op.output_dtype = [](DType) { return kBool; };
  return op;
}

/// Draws elements near 1, so that long products stay in range.
KernelOp product_of_rows() {
  KernelOp op = reduction("prod");
  op.operands = [](const Dims& d) { return Specs{{.sizes = {d.m, d.k}, .low = 0.9, .high = 1.1}}; };
  return op;
}

using In = std::vector<BoundedArray>;

/// Lets a norm have its own eps: its result is then f(operands, eps).
KernelOp takes_eps(KernelOp op, BoundedArray (*f)(const In&, double eps)) {
  op.with_eps = [op, f](double eps) {
    const KernelOp formula = kernel_op({.name = op.name,
                                        .inputs = FormulaInputs::Function(op.operands),
                                        .reference = [f, eps](const In& in) { return f(in, eps); },
                                        .least = op.least});
    KernelOp own = op;
    own.bounded = formula.bounded;
    own.rounded = formula.rounded;
    return own;
  };
  return op;
}

// (x - mean) / d w + b, or (x - mean) (w / d) + b, d = sqrt(var + eps), for each channel
BoundedArray batch_norm_with(const In& in, double eps) {
  const std::int64_t m = in[0].size(0), n = in[0].size(1), k = in[0].size(2);
  const BoundedArray x = permute(in[0], {1, 0, 2}).reshape({n, m * k});
  const BoundedArray weight = unsqueeze(in[1], 1), bias = unsqueeze(in[2], 1);
  const BoundedArray centred = x - mean(x, -1, true);
  const BoundedArray divisor = sqrt(mean(square(centred), -1, true) + eps);
  const BoundedArray y = either(centred / divisor * weight, centred * (weight / divisor)) + bias;
  return permute(y.reshape({n, m, k}), {1, 0, 2});
}

BoundedArray layer_norm_with(const In& in, double eps) {
  return layer_norm(in[0], in[1].sizes(), in[1], in[2], eps);
}
BoundedArray rms_norm_with(const In& in, double eps) {
  return rms_norm(in[0], in[1].sizes(), in[1], eps);
}

KernelOp batch_norm() {
  KernelOp op = judged(
      "batch_norm", "[m, n, k], [n], [n] -> [m, n, k], in training",
      [](const Dims& d) {
        return Specs{{.sizes = {d.m, d.n, d.k}}, {.sizes = {d.n}}, {.sizes = {d.n}}};
      },
      [](const Dims& d) {
        return Shape{d.m, d.n, d.k};
      });
  op.least = {2, 1, 1};  // a variance needs two elements
  return op;
}

// As batch_norm, for each of 2 groups of n channels
BoundedArray group_norm_with(const In& in, double eps) {
  const Shape sizes = in[0].sizes();
  const std::int64_t m = sizes[0], n = sizes[1] / 2, k = sizes[2];
  const BoundedArray x = in[0].reshape({m, 2, n * k});
  const BoundedArray centred = x - mean(x, -1, true);
  const BoundedArray divisor = sqrt(mean(square(centred), -1, true) + eps).reshape({m, 2, 1, 1});
  const BoundedArray rows = centred.reshape({m, 2, n, k});
  const BoundedArray weight = in[1].reshape({2, n, 1}), bias = in[2].reshape({2, n, 1});
  const BoundedArray y = either(rows / divisor * weight, rows * (weight / divisor)) + bias;
  return y.reshape(sizes);
}

KernelOp group_norm() {
  const auto sizes = [](const Dims& d) { return Shape{d.m, 2 * d.n, d.k}; };
  return judged(
      "group_norm", "[m, 2 n, k], [2 n], [2 n] -> [m, 2 n, k], in 2 groups",
      [sizes](const Dims& d) {
        return Specs{{.sizes = sizes(d)}, {.sizes = {2 * d.n}}, {.sizes = {2 * d.n}}};
      },
      sizes);
}

KernelOp rope() {
  const auto sizes = [](const Dims& d) { return Shape{d.m, 2 * d.k}; };
  return needs_rows(judged(
      "rope", "[m, 2 k] -> [m, 2 k], in halves",
      [sizes](const Dims& d) { return Specs{{.sizes = sizes(d)}}; }, sizes));
}

}  // namespace

std::vector<KernelOp> row_ops() {
  return {
      with_exact_sum(reduction("sum"), {0}),
      reduction("mean"),
      product_of_rows(),
      needs_rows(reduction("var")),  // kernels differ where there is nothing to divide
      needs_rows(reduction("std")),
      reduction("norm"),
      needs_rows(reduction("logsumexp")),
      extreme<true>("amax"),
      extreme<false>("amin"),
      place<true>("argmax"),
      place<false>("argmin"),
      order_of_rows(),
      truth<true>("all"),
      truth<false>("any"),
      with_exact_sum(of_rows("cumsum"), {0}),
      of_rows("softmax"),
      of_rows("log_softmax"),
      takes_eps(takes_dim(in_place(judged(
                    "layer_norm", "[m, k], [k], [k] -> [m, k]",
                    [](const Dims& d) {
                      return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}, {.sizes = {d.k}}};
                    },
                    same_matrix))),
                layer_norm_with),
      takes_eps(takes_dim(in_place(judged(
                    "rms_norm", "[m, k], [k] -> [m, k]",
                    [](const Dims& d) {
                      return Specs{{.sizes = {d.m, d.k}}, {.sizes = {d.k}}};
                    },
                    same_matrix))),
                rms_norm_with),
      takes_eps(in_place(batch_norm()), batch_norm_with),
      takes_eps(in_place(group_norm()), group_norm_with),
      rope(),
  };
}

}  // namespace halfgrad::testing::detail
