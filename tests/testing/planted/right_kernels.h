#pragma once

#include <algorithm>

#include <halfgrad/tests/testing/planted/wrong_races.h>
#include <halfgrad/tests/testing/planted/wrong_specials.h>

/// Right kernels in forms that a check once accused, or might.
namespace halfgrad::testing::planted {

/// lerp as PyTorch computes it: from the end for abs(w) >= 1/2.
inline float lerp_of(float a, float b, float w) {
  return std::fabs(w) < 0.5f ? a + w * (b - a) : b - (1 - w) * (b - a);
}
/// TensorFlow's cross entropy with logits, whose value at -inf is not NaN.
inline float logits_loss(float x, float t) {
  return std::fmax(x, 0.0f) - x * t + std::log1p(std::exp(-std::fabs(x)));
}
/// Softmax whose first tile may be all -inf.
inline Kernel guarded_online_softmax(Index tile) {
  return rows([=](const Call& c, Index row) {
    float most = -kInf, sum = 0;
    for (Index first = 0; first < c.k; first += tile) {
      float own = most;
      const Index end = std::min(first + tile, c.k);
      for (Index i = first; i < end; ++i) {
        const bool lost = std::isnan(own) || std::isnan(c.x(row, i));
        own = lost ? NAN : std::fmax(own, c.x(row, i));
      }
      if (own == -kInf) continue;
      sum *= most == own ? 1 : std::exp(most - own);
      for (Index i = first; i < end; ++i) sum += std::exp(c.x(row, i) - own);
      most = own;
    }
    for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, std::exp(c.x(row, i) - most) / sum);
  });
}
/// linear or addmm whose accumulator begins with the bias.
inline Kernel linear_from_bias() {
  return called([](const Call& c) {
    const Index n = c.in[1].size(0);
    for (Index at = 0; at < c.n(); ++at) {
      float sum = c.b(at % n);
      for (Index p = 0; p < c.k; ++p) sum += c.x(at / n, p) * c.w(at % n * c.k + p);
      c.y(at, sum);
    }
  });
}
inline Kernel addmm_from_bias() {
  return called([](const Call& c) {
    const Array &a = c.in[1], &b = c.in[2];
    const Index k = a.size(1), n = b.size(1);
    for (Index at = 0; at < c.n(); ++at) {
      float sum = c.x(at % n);
      for (Index p = 0; p < k; ++p) sum += element(a, at / n * k + p) * element(b, p * n + at % n);
      c.y(at, sum);
    }
  });
}
/// rms_norm that stores the normalised row before it multiplies by the weight.
inline Kernel rms_stored() {
  return rows([](const Call& c, Index row) {
    float squares = 0;
    for (Index i = 0; i < c.k; ++i) squares += c.x(row, i) * c.x(row, i);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(c.k) + 1e-5f);
    for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, c.stored(c.x(row, i) * scale) * c.w(i));
  });
}
/// The sum of squared deviations by n - 1.
inline Kernel variance_of_rows() {
  return rows([](const Call& c, Index row) {
    const float mean = sum_of(c, row, 0, c.k) / static_cast<float>(c.k);
    float squares = 0;
    for (Index i = 0; i < c.k; ++i) squares += (c.x(row, i) - mean) * (c.x(row, i) - mean);
    c.y(row, squares / static_cast<float>(c.k - 1));
  });
}
/// log(softmax), or the mean loss, as x - logsumexp, which a backward pass needs.
inline float logsumexp_row(const Call& c, Index row) {
  float most = -kInf, sum = 0;
  for (Index i = 0; i < c.k; ++i)
    most = std::isnan(c.x(row, i)) ? NAN : std::fmax(most, c.x(row, i));
  for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
  return most + std::log(sum);
}
inline Kernel log_softmax_by_logsumexp() {
  return rows([](const Call& c, Index row) {
    const float logsumexp = logsumexp_row(c, row);
    for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, c.x(row, i) - logsumexp);
  });
}
inline Kernel cross_entropy_by_logsumexp() {
  return called([](const Call& c) {
    float sum = 0;
    for (Index row = 0; row < c.m; ++row) {
      sum += logsumexp_row(c, row) - c.x(row, c.in[1].data_as<std::int64_t>()[row]);
    }
    c.y(0, sum / static_cast<float>(c.m));
  });
}
/// A norm whose weight is multiplied by the reciprocal deviation first.
inline Kernel norm_with_scaled_weight(bool centred) {
  return rows([=](const Call& c, Index row) {
    const float mean = centred ? sum_of(c, row, 0, c.k) / static_cast<float>(c.k) : 0;
    float squares = 0;
    for (Index i = 0; i < c.k; ++i) squares += (c.x(row, i) - mean) * (c.x(row, i) - mean);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(c.k) + 1e-5f);
    for (Index i = 0; i < c.k; ++i) {
      const float y = (c.x(row, i) - mean) * (scale * c.w(i));
      c.y(row * c.k + i, centred ? y + c.b(i) : y);
    }
  });
}
/// A product in tiles of these rows, columns and depth.
inline Kernel tiled_product(Index tile, Index depth) {
  return called([=](const Call& c) {
    const Index n = c.in[1].size(1);
    for (Index i0 = 0; i0 < c.m; i0 += tile) {
      for (Index j0 = 0; j0 < n; j0 += tile) {
        for (Index i = i0; i < std::min(i0 + tile, c.m); ++i) {
          for (Index j = j0; j < std::min(j0 + tile, n); ++j) {
            float sum = 0;
            for (Index p0 = 0; p0 < c.k; p0 += depth) {
              float part = 0;
              for (Index p = p0; p < std::min(p0 + depth, c.k); ++p) {
                part += c.x(i, p) * c.w(p * n + j);
              }
              sum += part;
            }
            c.y(i * n + j, sum);
          }
        }
      }
    }
  });
}
template <class F>
Kernel moved(const F& source) {
  return called([source](const Call& c) {
    const auto item = static_cast<Index>(item_size(c.out.dtype()));
    for (Index at = 0; at < c.n(); ++at) {
      const auto [operand, from] = source(c, at);
      std::copy_n(c.in[operand].data() + from * item, item, c.out.data() + at * item);
    }
  });
}

inline std::vector<PlantedKernel> more_right_kernels() {
  using Source = std::pair<std::size_t, Index>;
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  const Kernel mean_of_losses = called([](const Call& c) {
    float sum = 0;
    for (Index i = 0; i < c.m * c.k; ++i) sum += logits_loss(c.x(i), c.w(i));
    c.y(0, sum / static_cast<float>(c.m * c.k));
  });
  const Kernel lerp = called([](const Call& c) {
    for (Index i = 0; i < c.n(); ++i) c.y(i, lerp_of(c.x(i), c.w(i), c.b(i)));
  });
  return {
      {"lerp", f32, "from the end for abs(w) >= 1/2", lerp},
      {"lerp", bf16, "from the end for abs(w) >= 1/2", lerp},
      {"binary_cross_entropy_with_logits", f32, "TensorFlow's formula", mean_of_losses},
      {"binary_cross_entropy_with_logits", f16, "TensorFlow's formula", mean_of_losses},
      {"div", f32, "a (1 / b)", each([](float a, float b) { return a * (1 / b); })},
      {"div", f16, "a (1 / b)", each([](float a, float b) { return a * (1 / b); })},
      {"div", bf16, "a (1 / b)", each([](float a, float b) { return a * (1 / b); })},
      {"rms_norm", f16, "rounds before the weight", rms_stored()},
      {"rms_norm", bf16, "rounds before the weight", rms_stored()},
      {"rms_norm", f32, "one pass", rows([](const Call& c, Index row) { rms_row(c, row, 1e-5f); })},
      {"linear", f32, "begins with the bias", linear_from_bias()},
      {"linear", f16, "begins with the bias", linear_from_bias()},
      {"addmm", f32, "begins with the bias", addmm_from_bias()},
      {"addmm", bf16, "begins with the bias", addmm_from_bias()},
      {"softmax", f32, "one pass, tiles of 64 with a guard", guarded_online_softmax(64)},
      {"softmax", f16, "one pass, tiles of 16 with a guard", guarded_online_softmax(16)},
      {"softmax", bf16, "three passes", right_softmax()},
      {"layer_norm", bf16, "two passes", right_norm()},
      {"mm", f32, "tiles of 64, depth 8", tiled_product(64, 8)},
      {"mm", f16, "tiles of 32, depth 32", tiled_product(32, 32)},
      {"mm", bf16, "tiles of 128, depth 16", tiled_product(128, 16)},
      {"log_softmax", f32, "x - logsumexp", log_softmax_by_logsumexp()},
      {"log_softmax", f16, "x - logsumexp", log_softmax_by_logsumexp()},
      {"cross_entropy", f32, "logsumexp - x", cross_entropy_by_logsumexp()},
      {"layer_norm", f32, "the weight scaled first", norm_with_scaled_weight(true)},
      {"rms_norm", f32, "the weight scaled first", norm_with_scaled_weight(false)},
      {"rms_norm", bf16, "the weight scaled first", norm_with_scaled_weight(false)},
      {"var", f32, "0 / -1 for no element", variance_of_rows()},
      {"transpose", f32, "every bit",
       moved([](const Call& c, Index at) { return Source(0, at % c.m * c.k + at / c.m); })},
      {"transpose", bf16, "every bit",
       moved([](const Call& c, Index at) { return Source(0, at % c.m * c.k + at / c.m); })},
      {"cat", f16, "every bit", moved([](const Call& c, Index at) {
         const Index n = c.in[1].size(1), all = c.k + n, row = at / all, i = at % all;
         return i < c.k ? Source(0, row * c.k + i) : Source(1, row * n + i - c.k);
       })},
      {"embedding", f32, "every bit", moved([](const Call& c, Index at) {
         return Source(0, c.in[1].data_as<std::int64_t>()[at / c.k] * c.k + at % c.k);
       })},
      {"maximum", f32, "keeps NaN", each([](float a, float b) {
         return std::isnan(a) || std::isnan(b) ? a + b : a > b ? a : b;
       })},
      {"mul", bf16, "rounded to nearest", each([](float a, float b) { return a * b; })},
      {"sub", f32, "one operation", each([](float a, float b) { return a - b; })},
  };
}

}  // namespace halfgrad::testing::planted
