#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <halfgrad/tests/testing/planted/calls.h>

/// Backward kernels, and gemm: right ones, in other formulas than the checker's, and ones with a
/// usual mistake.
namespace halfgrad::testing::planted {

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
    float most = mistake == 3 ? -1e4F : -std::numeric_limits<float>::infinity(), total = 0;
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

}  // namespace halfgrad::testing::planted
