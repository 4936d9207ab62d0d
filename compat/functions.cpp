#include <halfgrad/compat/functions.h>

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/nn/embedding.h>

namespace halfgrad {
namespace {

// Klambauer et al. 2017, equation 14.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

void expect_probability(const char* op, double p) {
  if (!(p >= 0 && p <= 1)) detail::fail(op, "expected 0 <= p <= 1, got {}", p);
}

/// 1 with probability 1 - p, else 0.
Tensor kept(const Shape& sizes, double p, const Tensor& like) {
  return (rand(sizes, {.dtype = kFloat32, .device = like.device()}) >= p).to(like.dtype());
}

/// Computes an activation in at least float32, and returns it in the dtype of `self`. Autocast
/// treats it as one op, which runs in the dtype of its operand.
template <class F>
Tensor in_float(const char* name, const Tensor& self, const F& compute) {
  return detail::widened(name, Precision::any, kFloat32, compute, self);
}

/// The shape of one value for each channel.
Shape channels_of(const char* op, const Tensor& input) {
  if (input.dim() < 2) detail::fail(op, "expected shape [n, c, ...], got {}", input.sizes());
  Shape sizes{input.size(0), input.size(1)};
  for (std::int64_t i = 2; i < input.dim(); ++i) sizes.push_back(1);
  return sizes;
}

/// Dropped elements become -scale * alpha, the value of selu at -infinity; an affine map then
/// restores mean 0 and variance 1.
Tensor alpha_drop(const Tensor& input, double p, const Shape& mask_sizes) {
  if (p == 1) return input * 0;
  const double saturated = kSeluAlpha * kSeluScale;
  const double a = 1 / std::sqrt((saturated * saturated * p + 1) * (1 - p));
  const Tensor keep = kept(mask_sizes, p, input);
  return (input * keep + (keep - 1) * saturated) * a + saturated * a * p;
}

}  // namespace

Tensor selu(const Tensor& self) { return elu(self, kSeluAlpha) * kSeluScale; }
Tensor celu(const Tensor& self, double alpha) {
  if (alpha == 0) detail::fail("celu", "expected an alpha other than 0, got {}", alpha);
  return in_float("celu", self, [alpha](const Tensor& x) {
    const Tensor is_positive = x > 0;
    return where(is_positive, x, expm1(masked_fill(x, is_positive, 0) / alpha) * alpha);
  });
}
Tensor hardtanh(const Tensor& self, double min_val, double max_val) {
  if (!(min_val <= max_val)) {
    detail::fail("hardtanh", "expected min_val <= max_val, got {} and {}", min_val, max_val);
  }
  if (is_floating_point(self.dtype())) return clamp(self, min_val, max_val);
  return clamp(self, static_cast<std::int64_t>(min_val), static_cast<std::int64_t>(max_val));
}
Tensor relu6(const Tensor& self) { return clamp(self, 0, 6); }
Tensor hardshrink(const Tensor& self, double lambd) {
  return masked_fill(self, abs(self) <= lambd, 0);
}
Tensor hardsigmoid(const Tensor& self) { return relu6(self + 3) / 6; }
Tensor hardswish(const Tensor& self) { return self * hardsigmoid(self); }
Tensor tanhshrink(const Tensor& self) { return self - tanh(self); }
Tensor softsign(const Tensor& self) { return self / (abs(self) + 1); }
Tensor log_sigmoid(const Tensor& self) {
  return in_float("log_sigmoid", self, [](const Tensor& x) { return -softplus(-x); });
}
Tensor mish(const Tensor& self) {
  return in_float("mish", self, [](const Tensor& x) { return x * tanh(softplus(x)); });
}
Tensor threshold(const Tensor& self, double threshold, double value) {
  return masked_fill(self, self <= threshold, value);
}

Tensor prelu(const Tensor& self, const Tensor& weight) {
  if (weight.dim() > 1) {
    detail::fail("prelu", "expected a weight of dimension 0 or 1, got {}", weight.sizes());
  }
  Shape sizes;
  for (std::int64_t i = 0; i < self.dim(); ++i) sizes.push_back(1);
  if (weight.numel() != 1) {
    if (self.dim() < 2 || self.size(1) != weight.numel()) {
      detail::fail("prelu", "expected one weight or one for each channel, got {} for {}",
                   weight.sizes(), self.sizes());
    }
    sizes[1] = weight.numel();
  }
  const auto compute = [&sizes](const Tensor& x, const Tensor& slope) {
    return where(x > 0, x, x * slope.reshape(sizes));
  };
  // PyTorch's lists have it among the products.
  return detail::composite("prelu", Precision::tensor_core, compute, self, weight);
}

Tensor rrelu(const Tensor& self, double lower, double upper, bool training) {
  if (!(lower <= upper)) {
    detail::fail("rrelu", "expected lower <= upper, got {} and {}", lower, upper);
  }
  if (!training) return leaky_relu(self, (lower + upper) / 2);
  const Tensor slope = rand_like(self.detach()) * (upper - lower) + lower;
  return where(self > 0, self, self * slope);
}

Tensor glu(const Tensor& self, std::int64_t dim) {
  if (self.dim() == 0 || self.size(dim) % 2 != 0) {
    detail::fail("glu", "expected an even size of dimension {}, got {}", dim, self.sizes());
  }
  const std::vector<Tensor> halves = chunk(self, 2, dim);
  return halves[0] * sigmoid(halves[1]);
}

Tensor cosine_similarity(const Tensor& x1, const Tensor& x2, std::int64_t dim, double eps) {
  const Shape common = broadcast_shapes(x1.sizes(), x2.sizes(), "cosine_similarity");
  // Divides before the product: the product of two squared norms overflows or underflows.
  const auto direction = [&](const Tensor& x) {
    const Tensor length = norm(x, 2, Shape{dim}, /*keepdim=*/true).clone();
    {
      const NoGradGuard no_grad;  // as in libtorch, the gradient is that of the norm
      length.clamp_min_(eps);
    }
    return x / length;
  };
  const auto compute = [&](const Tensor& a, const Tensor& b) {
    return sum(direction(a.expand(common)) * direction(b.expand(common)), dim);
  };
  return detail::widened("cosine_similarity", Precision::wide_range, kFloat32, compute, x1, x2);
}

Tensor pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  static_cast<void>(broadcast_shapes(x1.sizes(), x2.sizes(), "pairwise_distance"));
  return norm(x1 - x2 + eps, p, -1, keepdim);
}
Tensor pdist(const Tensor& self, double p) {
  if (self.dim() != 2) detail::fail("pdist", "expected rows [n, m], got {}", self.sizes());
  std::vector<std::int64_t> first, second;
  for (std::int64_t i = 0; i < self.size(0); ++i) {
    for (std::int64_t j = i + 1; j < self.size(0); ++j) {
      first.push_back(i);
      second.push_back(j);
    }
  }
  const auto rows = [&](const std::vector<std::int64_t>& indices) {
    return index_select(self, 0, tensor(indices, {.dtype = kLong, .device = self.device()}));
  };
  return norm(rows(first) - rows(second), p, -1);
}

Tensor embedding(const Tensor& weight, const Tensor& indices, std::int64_t padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  if (sparse) detail::fail("embedding", "expected dense gradients, got {}", "sparse = true");
  const auto padding = padding_idx < 0 ? std::nullopt : std::optional(padding_idx);
  return nn::embedding_with(weight, indices, padding, {.scale_grad_by_freq = scale_grad_by_freq});
}

Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  if (weight.dim() != 3 || x1.dim() < 1 || x2.dim() < 1 || x1.size(-1) != weight.size(1) ||
      x2.size(-1) != weight.size(2)) {
    detail::fail("bilinear",
                 "expected [..., n], [..., m] and weight [out, n, m], got {}, {} and {}",
                 x1.sizes(), x2.sizes(), weight.sizes());
  }
  const auto compute = [](const Tensor& left, const Tensor& right, const Tensor& w) {
    return einsum("...i,oij,...j->...o", {left, w, right});
  };
  const Tensor y =
      detail::composite("bilinear", Precision::widest_operand, compute, x1, x2, weight);
  if (!bias.defined()) return y;
  // The bias does not decide the dtype, but autocast converts it.
  const bool is_cast = detail::cast_rule != nullptr && bias.dtype() == kFloat32;
  return y + (is_cast ? bias.to(y.dtype()) : bias);
}

Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  expect_probability("alpha_dropout", p);
  return train && p > 0 ? alpha_drop(input, p, input.sizes()) : input;
}

Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  expect_probability("feature_alpha_dropout", p);
  if (!train || p == 0) return input;
  return alpha_drop(input, p, channels_of("feature_alpha_dropout", input));
}

Tensor feature_dropout(const Tensor& input, double p, bool train) {
  expect_probability("feature_dropout", p);
  if (!train || p == 0) return input;
  if (p == 1) return input * 0;
  return input * kept(channels_of("feature_dropout", input), p, input) / (1 - p);
}

}  // namespace halfgrad
