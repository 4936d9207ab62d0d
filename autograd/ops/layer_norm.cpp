#include <cmath>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/layer_norm_rows.h>
#include <halfgrad/core/cuda/kernels/layer_norm.h>
#include <halfgrad/core/engines/rows.h>
#include <halfgrad/core/fail.h>

/// layer_norm: y = (x - mean(x)) r w + b,  r = 1 / sqrt(mean((x - mean(x))^2) + eps)
/// rms_norm:   y = x r w,                  r = 1 / sqrt(mean(x^2) + eps)
///
/// x [..., normalized_shape], w and b [normalized_shape]; a row is one index of the dimensions
/// "...", and means are over a row.
namespace halfgrad {
namespace detail {
namespace {

template <bool kCentred>
struct Normalize {
  static constexpr auto name = kCentred ? "layer_norm" : "rms_norm";
  static constexpr auto precision = Precision::wide_range;
  static constexpr unsigned saves = operands(0, 1);  // x and weight
  int dims;                                          // dimensions of a row, the last ones
  std::optional<double> eps;
  double used_eps = 0;
  Array statistics = {};

  Array forward(const Array& x, const Array& weight, const Array& bias) {
    const DType compute = promote_types(x.dtype(), DType::f32);
    used_eps = eps.value_or(compute == DType::f64 ? 0x1p-52 : 0x1p-23);
    const Shape matrix = matrix_sizes(x.sizes());
    statistics = Array::empty({matrix[0], 2}, compute, x.device());
    Array y = Array::empty(x.sizes(), x.dtype(), x.device());
    if (y.numel() == 0) return y;
    const Array rows = x.reshape(matrix);
    const Array out = y.reshape(matrix);
    if (x.device().is_cuda() &&
        normalize_on_cuda(kCentred, rows, flat(weight), flat(bias), used_eps, out, statistics)) {
      return y;
    }
    const Array w = repeated(weight, 1, x, matrix);
    const Array b = repeated(bias, 0, x, matrix);
    parallel_rows(NormalizeRow<kCentred>{used_eps}, compute, matrix[0],
                  std::array<const Array*, 3>{&rows, &w, &b},
                  std::array<const Array*, 2>{&out, &statistics});
    return y;
  }

  // With n = (x - mean(x)) r, or x r for rms_norm, and g = dy w:
  //     dx = r (g - mean(g) - n mean(g n)),  without mean(g) for rms_norm
  //     dw = sum over rows of dy n,  db = sum over rows of dy
  void backward(const Backward<3>& b) const {
    if (!GradMode::is_enabled() && b.grad().device().is_cuda() && fused_on_cuda(b)) return;
    if (b.needs(2)) b.set(2, sum_of_rows(b.grad()));
    if (!b.needs(0) && !b.needs(1)) return;
    GradMode::is_enabled() ? composed(b) : fused(b);
  }

 private:
  Shape matrix_sizes(const Shape& sizes) const {
    std::int64_t columns = 1;
    for (int d = sizes.size() - dims; d < sizes.size(); ++d) columns *= sizes[d];
    return {numel(sizes) / std::max<std::int64_t>(1, columns), columns};
  }
  Shape row_sizes(const Shape& sizes) const {
    return {sizes.end() - dims, static_cast<std::size_t>(dims)};
  }
  // Sums in float32 at least: a 16-bit sum could overflow, or be less precise than a float32 bias.
  Tensor sum_of_rows(const Tensor& dy) const {
    const Tensor rows = reshape(dy, matrix_sizes(dy.sizes()));
    return reshape(sum(rows, 0, false, statistics.dtype()), row_sizes(dy.sizes()));
  }
  static Array flat(const Array& row) { return row.defined() ? row.reshape({-1}) : row; }
  static Array repeated(const Array& row, double otherwise, const Array& x, const Shape& matrix) {
    return (row.defined() ? flat(row) : Array::full({1}, otherwise, x.dtype(), x.device()))
        .expand(matrix);
  }

  void fused(const Backward<3>& b) const {
    const Array x = b.input(0).array();
    const Shape matrix = matrix_sizes(x.sizes());
    const Array w = repeated(array_of(b.input(1)), 1, x, matrix);
    const Array rows = x.reshape(matrix);
    const Array dy = b.grad().array().reshape(matrix);
    const Array dx = Array::empty(matrix, x.dtype(), x.device());
    const Array dw = Array::empty(matrix, statistics.dtype(), x.device());
    if (x.numel() > 0) {
      parallel_rows(NormalizeGradientRow<kCentred>{}, statistics.dtype(), matrix[0],
                    std::array<const Array*, 4>{&dy, &rows, &w, &statistics},
                    std::array<const Array*, 2>{&dx, &dw});
    }
    if (b.needs(0)) b.set(0, Tensor(dx.reshape(x.sizes())));
    if (b.needs(1)) b.set(1, Tensor(dw.reshape(x.sizes())));
  }

  bool fused_on_cuda(const Backward<3>& b) const {
    const Array x = b.input(0).array();
    const Shape matrix = matrix_sizes(x.sizes());
    const auto [dx, parts] =
        normalize_gradient_on_cuda(kCentred, b.grad().array().reshape(matrix), x.reshape(matrix),
                                   flat(array_of(b.input(1))), statistics);
    if (!dx.defined()) return false;
    if (b.needs(0)) b.set(0, Tensor(dx.reshape(x.sizes())));
    if (!b.needs(1) && !b.needs(2)) return true;
    const Array sums = sum(Tensor(parts), {0}).array();
    const Shape row = row_sizes(x.sizes());
    if (b.needs(1)) b.set(1, Tensor(sums.select(0, 0).reshape(row)));
    if (b.needs(2)) b.set(2, Tensor(sums.select(0, 1).reshape(row)));
    return true;
  }

  void composed(const Backward<3>& b) const {
    const Tensor x = b.input(0).to(statistics.dtype());
    const Tensor weight = b.input(1);
    Shape row;
    for (int d = 1; d <= dims; ++d) row.push_back(-d);
    const Tensor centred = kCentred ? x - mean(x, row, true) : x;
    const Tensor r = rsqrt(mean(centred * centred, row, true) + Scalar(used_eps));
    const Tensor normalized = centred * r;
    const Tensor g = weight.defined() ? b.grad() * weight : b.grad();
    const Tensor varying = g - normalized * mean(g * normalized, row, true);
    if (b.needs(0)) b.set(0, r * (kCentred ? varying - mean(g, row, true) : varying));
    if (b.needs(1)) b.set(1, b.grad() * normalized);
  }
};

void check_normalized(const char* op, const Tensor& input, const Shape& shape, const Tensor& weight,
                      const Tensor& bias) {
  const int first = static_cast<int>(input.dim()) - shape.size();
  bool fits = !shape.empty() && first >= 0 && input.is_floating_point();
  for (int d = 0; fits && d < shape.size(); ++d) fits = input.size(first + d) == shape[d];
  if (!fits) {
    fail(op, "expected a floating point input of shape [..., {}, got {} of {}",
         to_string(shape).substr(1), input.sizes(), input.dtype());
  }
  for (const Tensor& parameter : {weight, bias}) {
    if (!parameter.defined() || parameter.sizes() == shape) continue;
    fail(op, "expected weight and bias of shape {}, got {}", shape, parameter.sizes());
  }
}

void check_float64(const Tensor& input, const Tensor& parameter) {
  if (!parameter.defined() || (parameter.dtype() == kDouble) == (input.dtype() == kDouble)) return;
  fail("layer_norm",
       "expected weight and bias of float64 if and only if the input is, got {} for {}",
       parameter.dtype(), input.dtype());
}

// (x - mean) / sqrt(var + eps) w + b for operands x, w and b; rms_norm has neither mean nor b
template <bool kCentred>
BoundedReference normalize_reference(double eps) {
  return [eps](const AnyArithmetic& a, const std::vector<Values>& in) {
    const std::int64_t columns = numel(in[1].sizes);
    Elements out;
    for (std::int64_t first = 0; first < numel(in[0].sizes); first += columns) {
      const Elements y = weighted_row(a, strided(a, in[0], first, columns),
                                      strided(a, in[1], 0, columns), kCentred, eps);
      for (std::size_t i = 0; i < y.size(); ++i) {
        out.push_back(kCentred ? a.add(y[i], a.number(in[2].data[i])) : y[i]);
      }
    }
    return out;
  };
}

template <bool kCentred>
OpEntry normalize_entry() {
  OpEntry entry{.name = Normalize<kCentred>::name,
                .precision = Normalize<kCentred>::precision,
                .roundoffs = 32,
                .examples = {},
                .bounded_reference = normalize_reference<kCentred>(1e-5)};
  for (const Shape& row : {Shape{7}, Shape{3, 4}}) {
    Shape sizes{5};
    for (const std::int64_t size : row) sizes.push_back(size);
    std::vector<OperandSpec> operands{{.sizes = sizes}, {.sizes = row}};
    if (kCentred) operands.push_back({.sizes = row});
    entry.examples.push_back({"over " + to_string(row), operands,
                              [row](const std::vector<Tensor>& in) {
                                return kCentred ? layer_norm(in[0], row, in[1], in[2], 1e-3)
                                                : rms_norm(in[0], row, in[1], 1e-3);
                              },
                              in_double(sizes, normalize_reference<kCentred>(1e-3))});
  }
  return entry;
}

}  // namespace

OpEntry layer_norm_entry() { return normalize_entry<true>(); }
OpEntry rms_norm_entry() { return normalize_entry<false>(); }

}  // namespace detail

Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight,
                  const Tensor& bias, double eps) {
  detail::check_normalized("layer_norm", input, normalized_shape, weight, bias);
  detail::check_float64(input, weight);
  detail::check_float64(input, bias);
  return detail::apply(detail::Normalize<true>{normalized_shape.size(), eps}, input, weight, bias);
}

Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const Tensor& weight,
                std::optional<double> eps) {
  detail::check_normalized("rms_norm", input, normalized_shape, weight, {});
  return detail::apply(detail::Normalize<false>{normalized_shape.size(), eps}, input, weight,
                       Tensor());
}

}  // namespace halfgrad
