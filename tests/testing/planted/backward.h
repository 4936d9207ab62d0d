#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <halfgrad/tests/testing/planted/call.h>

/// Backward kernels, attention and steps of optimizers: right ones, in other formulas than the
/// checker's, and ones with a usual mistake.
namespace halfgrad::testing::planted {

using I = std::int64_t;

/// The arguments of a kernel with several outputs.
struct Calls {
  const std::vector<Array>& in;
  const std::vector<Array>& out;

  float x(int operand, I i) const { return element(in[static_cast<std::size_t>(operand)], i); }
  void y(int output, I i, float value) const {
    Call{in, out[static_cast<std::size_t>(output)]}.y(i, value);
  }
  float stored(float value) const { return Call{in, out[0]}.stored(value); }
  I size(int operand, int dim) const { return in[static_cast<std::size_t>(operand)].size(dim); }
};

/// One kernel; `mistake` is 0 for the right one.
struct BackwardKernel {
  const char* op;
  int mistake;
  const char* what;
  void (*run)(const Calls& c, int mistake);
  bool only_in_float32 = false;  ///< in 16 bits the mistake is below the rounding of the result

  Kernel kernel() const {
    return [f = run, m = mistake](const std::vector<Array>& in, const std::vector<Array>& out) {
      f(Calls{in, out}, m);
    };
  }
};

inline void softmax_backward(const Calls& c, int mistake) {
  const I k = c.size(0, 1);
  for (I first = 0; first < c.size(0, 0) * k; first += k) {
    float total = 0;
    const I end = mistake == 2 && k > 4 ? k / 4 * 4 : k;
    for (I i = first; i < first + end; ++i) total += c.x(0, i) * (mistake == 1 ? 1 : c.x(1, i));
    for (I i = first; i < first + k; ++i) {
      const float y = c.x(1, i), g = c.x(0, i);
      c.y(0, i, mistake == -1 ? g * y - y * total : y * (g - total));
    }
  }
}

inline void log_softmax_backward(const Calls& c, int mistake) {
  const I k = c.size(0, 1);
  for (I first = 0; first < c.size(0, 0) * k; first += k) {
    float total = 0;
    for (I i = first; i < first + k; ++i) {
      total += c.x(0, i) * (mistake == 2 ? std::exp(c.x(1, i)) : 1);
    }
    for (I i = first; i < first + k; ++i) {
      c.y(0, i, c.x(0, i) - (mistake == 1 ? c.x(1, i) : std::exp(c.x(1, i))) * total);
    }
  }
}

// rstd / N (N g - sum(g) - n sum(g n)), as PyTorch's CUDA kernel, or Triton's tutorial
inline void layer_norm_backward(const Calls& c, int mistake) {
  const I m = c.size(0, 0), k = c.size(0, 1);
  const auto n = [&](I row, I i) {
    return (c.x(1, row * k + i) - c.x(2, row)) * (mistake == 2 ? 1 : c.x(3, row));
  };
  for (I row = 0; row < m; ++row) {
    float sum = 0, product = 0;
    for (I i = 0; i < k; ++i) {
      const float g = c.x(0, row * k + i) * c.x(4, i);
      sum += g;
      product += g * ((c.x(1, row * k + i) - c.x(2, row)) * c.x(3, row));
    }
    for (I i = 0; i < k; ++i) {
      const float g = c.x(0, row * k + i) * c.x(4, i), count = static_cast<float>(k);
      const float normed = (c.x(1, row * k + i) - c.x(2, row)) * c.x(3, row);
      const float varying = count * g - (mistake == 1 ? 0 : sum) - normed * product;
      const float triton = (g - (normed * (product / count) + sum / count)) * c.x(3, row);
      c.y(0, row * k + i, mistake == -1 ? triton : c.x(3, row) / count * varying);
    }
  }
  for (I i = 0; i < k; ++i) {
    float dw = 0, db = 0;
    for (I row = 0; row < m; ++row) {
      dw += c.x(0, row * k + i) * n(row, i);
      db += c.x(0, row * k + i) * (mistake == 3 ? c.x(4, i) : 1);
    }
    c.y(1, i, dw);
    c.y(2, i, db);
  }
}

// rstd g - rstd^3 mean(g x) x, as Liger
inline void rms_norm_backward(const Calls& c, int mistake) {
  const I m = c.size(0, 0), k = c.size(0, 1);
  for (I row = 0; row < m; ++row) {
    float product = 0;
    const float r = c.x(2, row);
    for (I i = 0; i < k; ++i) product += c.x(0, row * k + i) * c.x(3, i) * c.x(1, row * k + i);
    const float factor = -(1 / static_cast<float>(k)) * (mistake == 1 ? r : r * r) * product;
    for (I i = 0; i < k; ++i) {
      const float g = c.x(0, row * k + i) * c.x(3, i);
      const float centred =
          r * (g - c.x(1, row * k + i) * r * (r * product / static_cast<float>(k)));
      const float liger = r * g + r * (factor * c.x(1, row * k + i));
      c.y(0, row * k + i, mistake == -1 ? centred : liger);
    }
  }
  for (I i = 0; i < k; ++i) {
    float dw = 0;
    for (I row = 0; row < m; ++row) {
      dw += c.x(0, row * k + i) * (c.x(1, row * k + i) * (mistake == 2 ? 1 : c.x(2, row)));
    }
    c.y(1, i, dw);
  }
}

inline void cross_entropy_backward(const Calls& c, int mistake) {
  const I m = c.size(1, 0), k = c.size(1, 1);
  const float scale = c.x(0, 0) / (mistake == 1 ? 1 : static_cast<float>(m));
  for (I row = 0; row < m; ++row) {
    float most = -std::numeric_limits<float>::infinity(), total = 0;
    for (I i = 0; i < k; ++i) {
      const float x = c.x(1, row * k + i);
      most = std::isnan(x) ? x : std::fmax(most, x);
    }
    for (I i = 0; i < k; ++i) total += std::exp(c.x(1, row * k + i) - most);
    for (I i = 0; i < k; ++i) {
      const float p = mistake == -1 ? std::exp(c.x(1, row * k + i) - most - std::log(total))
                                    : std::exp(c.x(1, row * k + i) - most) / total;
      const bool is_class = static_cast<float>(i) == c.x(2, row) || (mistake == 2 && i == 0);
      c.y(0, row * k + i, scale * p - (is_class ? scale : 0));
    }
  }
}

inline void linear_backward(const Calls& c, int mistake) {
  const I m = c.size(0, 0), k = c.size(0, 1), n = c.size(1, 1);
  for (I i = 0; i < m * k; ++i) {
    float dx = 0;
    for (I j = 0; j < n; ++j) {
      const bool transposes = mistake == 1 && n == k;
      dx += c.x(1, i / k * n + j) * c.x(2, transposes ? i % k * n + j : j * k + i % k);
    }
    c.y(0, i, dx);
  }
  for (I i = 0; i < n * k; ++i) {
    float dw = 0;
    for (I row = 0; row < m; ++row) dw += c.x(1, row * n + i / k) * c.x(0, row * k + i % k);
    c.y(1, i, dw);
  }
  for (I i = 0; i < n; ++i) {
    float db = 0;
    for (I row = 0; row < (mistake == 2 ? std::min<I>(m, 64) : m); ++row) db += c.x(1, row * n + i);
    c.y(2, i, db);
  }
}

inline void gelu_backward(const Calls& c, int mistake) {
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float x = c.x(1, i), z = x * 0.70710678F;
    const float cdf = mistake == -1 ? 0.5F * (1 + std::erf(z)) : 0.5F * std::erfc(-z);
    float slope = cdf + x * 0.39894228F * std::exp(-0.5F * x * x);
    if (mistake == 1) {
      const float u = 0.79788456F * (x + 0.044715F * x * x * x), t = std::tanh(u);
      const float du = 0.79788456F * (1 + 3 * 0.044715F * x * x);
      slope = 0.5F * (1 + t) + 0.5F * x * (1 - t * t) * du;
    }
    if (mistake == 2) slope = 0.5F * std::erfc(-z);
    c.y(0, i, c.x(0, i) * slope);
  }
}

inline void embedding_backward(const Calls& c, int mistake) {
  const I m = c.size(0, 0), n = c.size(0, 1), k = c.size(2, 0);
  std::vector<float> total(static_cast<std::size_t>(k * n));
  for (I i = 0; i < m * n; ++i) {
    float& sum = total[static_cast<std::size_t>(static_cast<I>(c.x(1, i / n)) * n + i % n)];
    sum = mistake == 1 ? c.x(0, i) : sum + c.x(0, i);
    if (mistake == 2 && static_cast<I>(c.x(1, i / n)) == k - 1) sum = 0;
  }
  for (I i = 0; i < k * n; ++i) c.y(0, i, total[static_cast<std::size_t>(i)]);
}

inline void gemm(const Calls& c, int mistake) {
  const I m = c.size(0, 0), n = c.size(0, 1), k = c.size(1, 1);
  for (I i = 0; i < m * n; ++i) {
    float sum = 0;
    if (mistake == -1) {
      for (I j = 0; j < k; ++j) sum += c.x(1, i / n * k + j) * c.x(2, j * n + i % n);
      c.y(0, i, 1.5F * sum + 0.75F * c.x(0, i));
      continue;
    }
    for (I j = 0; j < k; ++j) sum += 1.5F * c.x(1, i / n * k + j) * c.x(2, j * n + i % n);
    const float beta = mistake == 1 ? 0.75F * 1.5F : 0.75F;
    c.y(0, i, mistake == 2 && c.x(0, i) == 0 ? 1.5F * sum : sum + beta * c.x(0, i));
  }
}

/// One pass over the keys, in tiles, with sums that are rescaled.
inline void attend(const Calls& c, int mistake, bool causal) {
  const I m = c.size(0, 1), n = c.size(1, 1), k = c.size(0, 2);
  const float scale = mistake == 1 ? 1 : 1 / std::sqrt(static_cast<float>(k));
  for (I row = 0; row < 2 * m; ++row) {
    const I batch = row / m, i = row % m;
    const I last = mistake == 3 ? i - 1 : mistake == 4 ? i + n - m : i;
    const I keys = causal ? std::min(n, last + 1) : n;
    float most = -std::numeric_limits<float>::infinity(), total = 0;
    std::vector<float> sums(static_cast<std::size_t>(k));
    for (I j = 0; j < keys; ++j) {
      float score = 0;
      const I key = (batch * n + j) * k;
      for (I d = 0; d < k; ++d) score += c.x(0, row * k + d) * c.x(1, key + d);
      score *= scale;
      const float above =
          std::isnan(score) || std::isnan(most) ? std::nanf("") : std::fmax(most, score);
      const bool nothing = std::isinf(above) && above < 0;  // no key yet: -inf - -inf is NaN
      const float old = most == above ? 1 : std::exp(most - above);
      const float e = nothing ? 0 : std::exp(score - above);
      most = above;
      total = total * old + e;
      for (I d = 0; d < k; ++d) {
        float& sum = sums[static_cast<std::size_t>(d)];
        sum = (mistake == 2 ? sum : sum * old) + c.stored(e) * c.x(2, key + d);
      }
    }
    for (I d = 0; d < k; ++d) c.y(0, row * k + d, sums[static_cast<std::size_t>(d)] / total);
    const bool infinite = std::isinf(most);
    c.y(1, row, infinite ? most : mistake == 5 ? std::log(total) : most + std::log(total));
  }
}
/// Two passes, by exp2, with probabilities that are stored before the product.
inline void attend_in_two_passes(const Calls& c, bool causal) {
  const I m = c.size(0, 1), n = c.size(1, 1), k = c.size(0, 2);
  for (I row = 0; row < 2 * m; ++row) {
    const I first = row / m * n, keys = causal ? std::min(n, row % m + 1) : n;
    std::vector<float> p;
    float most = -std::numeric_limits<float>::infinity(), total = 0;
    for (I j = 0; j < keys; ++j) {
      float score = 0;
      for (I d = 0; d < k; ++d) score += c.x(0, row * k + d) * c.x(1, (first + j) * k + d);
      p.push_back(score / std::sqrt(static_cast<float>(k)));
      most = std::isnan(p.back()) || std::isnan(most) ? std::nanf("") : std::fmax(most, p.back());
    }
    for (float& each : p) total += each = std::exp2((each - most) * 1.44269504F);
    for (float& each : p) each = c.stored(each / total);
    for (I d = 0; d < k; ++d) {
      float sum = 0;
      for (I j = 0; j < keys; ++j) {
        sum += p[static_cast<std::size_t>(j)] * c.x(2, (first + j) * k + d);
      }
      c.y(0, row * k + d, sum);
    }
    c.y(1, row, std::isinf(most) ? most : most + std::log(total));
  }
}
inline void two_passes(const Calls& c, int) { attend_in_two_passes(c, false); }
inline void causal_two_passes(const Calls& c, int) { attend_in_two_passes(c, true); }
inline void attention(const Calls& c, int mistake) { attend(c, mistake, false); }
inline void causal_attention(const Calls& c, int mistake) { attend(c, mistake, true); }

inline void sgd_step(const Calls& c, int mistake) {
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = c.x(1, i) * (mistake == 1 ? 1 : c.x(3, 0));
    const float buffer = 0.9F * c.x(2, i) + (mistake == 2 ? 0.1F : 1) * g;
    c.y(1, i, buffer);
    c.y(0, i, c.x(0, i) - 0.01F * buffer);
  }
}

/// PyTorch's formula, with 1 - beta in float32.
inline void adam_of_pytorch(const Calls& c, int) {
  const float correction1 = static_cast<float>(1 - std::pow(0.9, 10));
  const float correction2 = static_cast<float>(std::sqrt(1 - std::pow(0.999, 10)));
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = c.x(1, i) * c.x(4, 0);
    const float m = 0.9F * c.x(2, i) + (1 - 0.9F) * g;
    const float v = 0.999F * c.x(3, i) + (1 - 0.999F) * g * g;
    const float divisor = std::sqrt(v) / correction2 + 1e-8F;
    c.y(0, i, c.x(0, i) - 0.001F / correction1 * (m / divisor));
    c.y(1, i, m);
    c.y(2, i, v);
  }
}

inline void adam(const Calls& c, int mistake, float decay) {
  const float correction1 = static_cast<float>(1 - std::pow(0.9, 10));
  const float correction2 = static_cast<float>(1 - std::pow(0.999, 10));
  for (I i = 0; i < c.in[0].numel(); ++i) {
    const float g = c.x(1, i) * c.x(4, 0);
    const float m = c.x(2, i) + 0.1F * (g - c.x(2, i)), v = 0.999F * c.x(3, i) + 0.001F * g * g;
    const float hat = mistake == 1 ? v : v / correction2;
    const float divisor = mistake == 2 ? std::sqrt(hat + 1e-8F) : std::sqrt(hat) + 1e-8F;
    float p = c.x(0, i);
    if (mistake != 3) p *= 1 - 0.001F * decay;
    p -= 0.001F * (m / correction1) / divisor;
    if (mistake == 3) p -= 0.001F * c.x(0, i) * decay * decay;
    c.y(0, i, p);
    c.y(1, i, m);
    c.y(2, i, mistake == 4 ? 0.999F * c.x(3, i) + 0.001F * g : v);
  }
}
inline void adam_step(const Calls& c, int mistake) { adam(c, mistake, 0); }
inline void adamw_step(const Calls& c, int mistake) { adam(c, mistake, 0.01F); }

inline std::vector<BackwardKernel> backward_kernels() {
  const char* const causal = "scaled_dot_product_attention_causal";
  const char* const full = "scaled_dot_product_attention";
  return {
      {"softmax_backward", 0, "y (g - sum)", softmax_backward},
      {"softmax_backward", -1, "g y - y sum", softmax_backward},
      {"softmax_backward", 1, "sum without y", softmax_backward},
      {"softmax_backward", 2, "no tail in the sum", softmax_backward},
      {"log_softmax_backward", 0, "right", log_softmax_backward},
      {"log_softmax_backward", 1, "y for exp(y)", log_softmax_backward},
      {"log_softmax_backward", 2, "weighted sum", log_softmax_backward},
      {"layer_norm_backward", 0, "PyTorch's CUDA formula", layer_norm_backward},
      {"layer_norm_backward", -1, "Triton's formula", layer_norm_backward},
      {"layer_norm_backward", 1, "without mean(g)", layer_norm_backward},
      {"layer_norm_backward", 2, "dw without rstd", layer_norm_backward},
      {"layer_norm_backward", 3, "db with the weight", layer_norm_backward},
      {"rms_norm_backward", 0, "Liger's formula", rms_norm_backward},
      {"rms_norm_backward", -1, "without rstd^3", rms_norm_backward},
      {"rms_norm_backward", 1, "rstd^2 for rstd^3", rms_norm_backward},
      {"rms_norm_backward", 2, "dw without rstd", rms_norm_backward},
      {"cross_entropy_backward", 0, "c p - c q", cross_entropy_backward},
      {"cross_entropy_backward", -1, "exp of log_softmax", cross_entropy_backward},
      {"cross_entropy_backward", 1, "sum for mean", cross_entropy_backward},
      {"cross_entropy_backward", 2, "class 0 too", cross_entropy_backward},
      {"linear_backward", 0, "right", linear_backward},
      {"linear_backward", 1, "w transposed if square", linear_backward},
      {"linear_backward", 2, "db of 64 rows", linear_backward},
      {"gelu_backward", 0, "by erfc", gelu_backward},
      {"gelu_backward", -1, "by erf", gelu_backward},
      {"gelu_backward", 1, "by tanh", gelu_backward},
      {"gelu_backward", 2, "without the density", gelu_backward},
      {"embedding_backward", 0, "right", embedding_backward},
      {"embedding_backward", 1, "last row wins", embedding_backward},
      {"embedding_backward", 2, "last index as padding", embedding_backward},
      {"gemm", 0, "a scaled first", gemm},
      {"gemm", -1, "factors last", gemm},
      {"gemm", 1, "alpha on c too", gemm},
      {"gemm", 2, "alpha twice where c is 0", gemm},
      {full, 0, "one pass", attention},
      {full, -1, "two passes", two_passes},
      {full, 1, "no scale", attention},
      {full, 2, "output not rescaled", attention},
      {full, 5, "logsumexp without the maximum", attention},
      {causal, 0, "one pass", causal_attention},
      {causal, -1, "two passes", causal_two_passes},
      {causal, 3, "without the diagonal", causal_attention},
      {causal, 4, "aligned at the last key", causal_attention},
      {"sgd_step", 0, "right", sgd_step},
      {"sgd_step", 1, "not unscaled", sgd_step},
      {"sgd_step", 2, "dampened", sgd_step},
      {"adam_step", 0, "Kingma's formula", adam_step},
      {"adam_step", -1, "PyTorch's formula", adam_of_pytorch},
      {"adam_step", 1, "no second bias correction", adam_step},
      {"adam_step", 2, "eps in the root", adam_step, true},
      {"adam_step", 4, "v of g, not g^2", adam_step},
      {"adamw_step", 0, "Kingma's formula", adamw_step},
      {"adamw_step", 3, "decay squared", adamw_step, true},
      {"adamw_step", 4, "v of g, not g^2", adamw_step},
  };
}

}  // namespace halfgrad::testing::planted
