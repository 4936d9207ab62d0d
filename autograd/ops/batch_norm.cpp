#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// Reshapes a vector [c] to [1, c, 1, ...], which broadcasts along dimension 1.
Tensor along_channels(const Tensor& channels, std::int64_t ndim) {
  Shape sizes;
  for (std::int64_t d = 0; d < ndim; ++d) sizes.push_back(d == 1 ? -1 : 1);
  return reshape(channels, sizes);
}

// running = (1 - momentum) running + momentum batch
void update(const Tensor& running, const Tensor& batch, double momentum) {
  if (!running.defined()) return;
  const NoGradGuard no_grad;
  const Tensor mixed = running * Scalar(1 - momentum) + batch * Scalar(momentum);
  running.array().copy_(mixed.array());
  running.array().storage()->bump_version();
}

void check_batch_norm(const Tensor& input, std::initializer_list<const Tensor*> per_channel,
                      bool training, bool has_statistics, double eps) {
  if (input.dim() < 2 || !input.is_floating_point()) {
    fail("batch_norm", "expected a floating point input of shape [n, c, ...], got {} of {}",
         input.sizes(), input.dtype());
  }
  for (const Tensor* tensor : per_channel) {
    if (!tensor->defined() || tensor->sizes() == Shape{input.size(1)}) continue;
    fail("batch_norm", "expected parameters and statistics of shape {}, got {}",
         Shape{input.size(1)}, tensor->sizes());
  }
  if (training && input.numel() == input.size(1)) {
    fail("batch_norm", "expected more than one value per channel in training, got {}",
         input.sizes());
  }
  if (!(eps >= 0)) fail("batch_norm", "expected an eps >= 0, got {}", eps);
  if (!training && !has_statistics) {
    fail("batch_norm", "expected running statistics in evaluation, got none");
  }
}

// Operands x [m, n, k], w [n] and b [n]. Kernels may fold w into the scale.
BoundedReference batch_norm_reference(double eps) {
  return [eps](const AnyArithmetic& a, const std::vector<Values>& in) {
    const std::int64_t m = in[0].sizes[0], n = in[0].sizes[1], k = in[0].sizes[2];
    Elements out(in[0].data.size());
    for (std::int64_t channel = 0; channel < n; ++channel) {
      Elements x;
      for (std::int64_t i = 0; i < m; ++i) {
        const Elements row = strided(a, in[0], (i * n + channel) * k, k);
        x.insert(x.end(), row.begin(), row.end());
      }
      subtract_mean(a, x);
      const Bounded divisor = deviation(a, x, eps);
      const Bounded weight = a.number(in[1].data[static_cast<std::size_t>(channel)]);
      const Bounded bias = a.number(in[2].data[static_cast<std::size_t>(channel)]);
      const Bounded scale = a.div(weight, divisor);
      for (std::int64_t i = 0; i < m * k; ++i) {
        const Bounded& centred = x[static_cast<std::size_t>(i)];
        const Bounded y = a.either(a.mul(a.div(centred, divisor), weight), a.mul(centred, scale));
        out[static_cast<std::size_t>((i / k * n + channel) * k + i % k)] = a.add(y, bias);
      }
    }
    return out;
  };
}

}  // namespace

OpEntry batch_norm_entry() {
  return {.name = "batch_norm",
          .precision = Precision::any,
          .roundoffs = 32,
          .examples = {{"in training",
                        {{.sizes = {6, 3, 4}}, {.sizes = {3}}, {.sizes = {3}}},
                        [](const std::vector<Tensor>& in) {
                          return batch_norm(in[0], in[1], in[2], {}, {}, true, 0.1, 1e-3);
                        },
                        in_double({6, 3, 4}, batch_norm_reference(1e-3))}},
          .bounded_reference = batch_norm_reference(1e-5)};
}

}  // namespace detail

// y = (x - mean) / sqrt(var + eps) weight + bias for every channel
// x [n, c, ...], weight and bias [c]; mean and var over all dimensions but c. Computed in float32
// at least, by ops that have gradients of their own.
Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, bool training,
                  double momentum, double eps) {
  detail::check_batch_norm(input, {&weight, &bias, &running_mean, &running_var}, training,
                           running_mean.defined() && running_var.defined(), eps);
  const auto compute = [&](const Tensor& narrow, const Tensor& w, const Tensor& b) {
    const Tensor x = narrow.to(promote_types(narrow.dtype(), DType::f32));
    const std::int64_t ndim = x.dim();
    Tensor mu = running_mean;
    Tensor variance = running_var;
    if (training) {
      Shape others{0};
      for (std::int64_t d = 2; d < ndim; ++d) others.push_back(d);
      mu = mean(x, others);
      const Tensor centred = x - detail::along_channels(mu, ndim);
      variance = mean(centred * centred, others);
      const double count = static_cast<double>(x.numel() / x.size(1));
      if (count > 0) {
        detail::update(running_mean, mu, momentum);
        detail::update(running_var, variance * Scalar(count / (count - 1)), momentum);
      }
    }
    Tensor scale = rsqrt(variance + Scalar(eps));
    if (w.defined()) scale = scale * w;
    Tensor y = (x - detail::along_channels(mu, ndim)) * detail::along_channels(scale, ndim);
    if (b.defined()) y = y + detail::along_channels(b, ndim);
    return y.to(narrow.dtype());
  };
  return detail::composite("batch_norm", Precision::any, compute, input, weight, bias);
}

}  // namespace halfgrad
