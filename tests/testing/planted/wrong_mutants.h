#pragma once

#include <algorithm>
#include <cmath>

#include <halfgrad/tests/testing/planted/fused_steps.h>
#include <halfgrad/tests/testing/planted/right_kernels.h>

/// Kernels that a program made of right ones, by changing an operator, a constant or a statement.
/// An earlier check passed them.
namespace halfgrad::testing::planted {

/// batch_norm over the first `rows` samples, in the first `channels` channels only.
inline Kernel norm_of_channels(Index rows, Index channels) {
  return called([=](const Call& c) {
    const Index m = c.in[0].size(0), n = std::min(c.in[0].size(1), channels), k = c.in[0].size(2);
    const auto at = [=, all = c.in[0].size(1)](Index row, Index channel, Index i) {
      return (row * all + channel) * k + i;
    };
    for (Index channel = 0; channel < n; ++channel) {
      const auto mean_of = [&](const auto& f) {
        float sum = 0;
        for (Index row = 0; row < std::min(m, rows); ++row) {
          for (Index i = 0; i < k; ++i) sum += f(c.x(at(row, channel, i)));
        }
        return sum / static_cast<float>(m * k);
      };
      const float mean = mean_of([](float x) { return x; });
      const float variance = mean_of([=](float x) { return (x - mean) * (x - mean); });
      const float scale = 1 / std::sqrt(variance + 1e-5f);
      for (Index row = 0; row < m; ++row) {
        for (Index i = 0; i < k; ++i) {
          const Index place = at(row, channel, i);
          c.y(place, (c.x(place) - mean) * scale * c.w(channel) + c.b(channel));
        }
      }
    }
  });
}

/// The logarithm of softmax, with a maximum that is at least `lowest`.
inline Kernel log_softmax_from(float lowest) {
  return rows([=](const Call& c, Index row) {
    float most = lowest, sum = 0;
    for (Index i = 0; i < c.k; ++i) most = std::fmax(most, c.x(row, i));
    for (Index i = 0; i < c.k; ++i) sum += std::exp(c.x(row, i) - most);
    for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, c.x(row, i) - most - std::log(sum));
  });
}

/// x toward zero in float16, where that is normal.
inline float cut_to_half(float x) {
  const float nearest = through<Half>(x);
  const bool is_beyond = std::fabs(nearest) > std::fabs(x) && !std::isinf(nearest);
  return is_beyond ? through<Half>(nearest * (1 - 0x1p-11f)) : nearest;
}

/// AdamW's step that, if it is skipped, copies `most` parameters.
inline Kernel skipping_step(Index most) {
  return [=](const std::vector<Array>& in, const std::vector<Array>& out) {
    const Calls c{in, out};
    if (c.x(6, 0) == 0) return fused_adamw_step(c, 0);
    for (Index i = 0; i < std::min(in[0].numel(), most); ++i) {
      for (int output = 0; output < 3; ++output)
        c.y(output, i, c.x(output == 0 ? 0 : output + 1, i));
    }
    c.y(3, 0, c.x(4, 0));
  };
}

inline std::vector<PlantedKernel> wrong_counts() {
  const DType f32 = kFloat32, f16 = kFloat16;
  return {
      {"batch_norm", f16, "sums of 1024 samples", norm_of_channels(1024, 1 << 30)},
      {"batch_norm", f32, "at most 32767 channels", norm_of_channels(1 << 30, 32767)},
      {"bmm", f32, "rows of b as long as a has rows", called([](const Call& c) {
         const Index m = c.in[0].size(1), n = c.in[1].size(2), last = c.in[1].numel() - 1;
         for (Index at = 0; at < c.n(); ++at) {
           const Index batch = at / (m * n), i = at / n % m, j = at % n;
           float sum = 0;
           for (Index p = 0; p < c.k; ++p) {
             const Index place = (batch * c.k + p) * m + j;
             sum += c.x((batch * m + i) * c.k + p) * c.w(std::min(place, last));
           }
           c.y(at, sum);
         }
       })},
      {"fused_adamw_step", f32, "a skipped step copies 32767 parameters", skipping_step(32767)},
  };
}

inline std::vector<PlantedKernel> wrong_starts() {
  return {{"log_softmax", kBFloat16, "the maximum from -1e30", log_softmax_from(-1e30f)},
          {"log_softmax", kFloat32, "the maximum from -1e30", log_softmax_from(-1e30f)}};
}

inline std::vector<PlantedKernel> wrong_small_parts() {
  const DType f16 = kFloat16, bf16 = kBFloat16;
  return {
      {"rms_norm", bf16, "the reciprocal root in bf16", rows([](const Call& c, Index row) {
         float squares = 0;
         for (Index i = 0; i < c.k; ++i) squares += c.x(row, i) * c.x(row, i);
         const float scale = c.stored(1 / std::sqrt(squares / static_cast<float>(c.k) + 1e-5f));
         for (Index i = 0; i < c.k; ++i) c.y(row * c.k + i, c.x(row, i) * scale * c.w(i));
       })},
      {"mul", bf16, "cuts bits off in the last n % 4 elements", called([](const Call& c) {
         for (Index i = 0; i < c.n(); ++i) {
           const float y = c.x(i) * c.w(i);
           c.y(i, i < c.n() / 4 * 4 ? y : cut_to_bfloat16(y, 0));
         }
       })},
      {"linear_gelu", f16, "truncates", called([](const Call& c) {
         const Index n = c.in[1].size(0);
         for (Index at = 0; at < c.n(); ++at) {
           float sum = c.b(at % n);
           for (Index p = 0; p < c.k; ++p) sum += c.x(at / n, p) * c.w(at % n * c.k + p);
           const float u = 0.79788456f * (sum + 0.044715f * sum * sum * sum);
           c.y(at, cut_to_half(0.5f * sum * (1 + std::tanh(u))));
         }
       })},
      {"binary_cross_entropy_with_logits", f16, "truncates", called([](const Call& c) {
         float sum = 0;
         for (Index i = 0; i < c.m * c.k; ++i) sum += logits_loss(c.x(i), c.w(i));
         c.y(0, cut_to_half(sum / static_cast<float>(c.m * c.k)));
       })},
  };
}

}  // namespace halfgrad::testing::planted
