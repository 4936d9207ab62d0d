#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/tests/testing/audit/rules.h>

namespace halfgrad::testing::audit {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Attention of query [2, m, d], key and value [2, n, d] in float32, and its mistakes.
struct Attention {
  bool causal = false;
  bool online = false;         ///< rescales the sum tile by tile, as FlashAttention
  bool subtracts_most = true;  ///< exp(s - max(s))
  bool rescales = true;        ///< the sum of earlier tiles, when the maximum grows
  std::int64_t last_seen = 0;  ///< keys beyond the query's own that it sees
  std::int64_t padded_to = 1;  ///< keys are padded to a multiple, with scores of 0
  float (*scale)(float d) = [](float d) { return 1 / std::sqrt(d); };

  void operator()(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(1), n = in[1].size(1), d = in[0].size(2);
    const float *q = in[0].data_as<float>(), *k = in[1].data_as<float>();
    const float* v = in[2].data_as<float>();
    for (std::int64_t row = 0; row < 2 * m; ++row) {
      const std::int64_t first = row / m * n;
      const std::int64_t seen = causal ? std::min(n, row % m + 1 + last_seen) : n;
      one_row(q + row * d, k + first * d, v + first * d, seen, d, out.data_as<float>() + row * d);
    }
  }

  void one_row(const float* q, const float* k, const float* v, std::int64_t seen, std::int64_t d,
               float* y) const {
    std::vector<float> scores;
    for (std::int64_t j = 0; j < seen; ++j) {
      float dot = 0;
      for (std::int64_t i = 0; i < d; ++i) dot += q[i] * k[j * d + i];
      scores.push_back(dot * scale(static_cast<float>(d)));
    }
    const std::int64_t padding = (padded_to - seen % padded_to) % padded_to;
    const std::int64_t tile = online ? 32 : std::max<std::int64_t>(1, seen);
    std::vector<float> sums(static_cast<std::size_t>(d));
    float total = 0, most = subtracts_most ? -kInfinity : 0;
    for (std::int64_t begin = 0; begin < seen; begin += tile) {
      const std::int64_t end = std::min(seen, begin + tile);
      float now = most;
      for (std::int64_t j = begin; subtracts_most && j < end; ++j) {
        const float score = scores[static_cast<std::size_t>(j)];
        now = now > score || std::isnan(now) ? now : score;
      }
      const float factor = begin == 0 || now == most || !rescales ? 1 : std::exp(most - now);
      total *= factor;
      for (float& sum : sums) sum *= factor;
      most = now;
      for (std::int64_t j = begin; j < end; ++j) {
        const float e = std::exp(scores[static_cast<std::size_t>(j)] - most);
        total += e;
        for (std::int64_t i = 0; i < d; ++i) sums[static_cast<std::size_t>(i)] += e * v[j * d + i];
      }
    }
    if (padding > 0) total += static_cast<float>(padding) * std::exp(-most);
    for (std::int64_t i = 0; i < d; ++i) y[i] = sums[static_cast<std::size_t>(i)] / total;
  }
};

/// x / max(|x|, eps) of each row, with |x| or |x|^2 below the fraction.
Kernel l2_normalize(bool root, float eps) {
  return [=](const std::vector<Array>& in, const Array& out) {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      const float* const x = in[0].data_as<float>() + row * k;
      float squares = 0;
      for (std::int64_t i = 0; i < k; ++i) squares += x[i] * x[i];
      const float length = root ? std::sqrt(squares) : squares;
      const float below = length < eps ? eps : length;
      for (std::int64_t i = 0; i < k; ++i) out.data_as<float>()[row * k + i] = x[i] / below;
    }
  };
}

KernelFormula attention_formula(const std::string& name, bool causal) {
  return {.name = name,
          .inputs = {{2, "m", "k"}, {2, "n", "k"}, {2, "n", "k"}},
          .reference = [causal](const std::vector<BoundedArray>& in) -> BoundedArrays {
            return scaled_dot_product_attention(in[0], in[1], in[2], causal)[0];
          },
          .least = {0, 1, 1}};
}

constexpr auto kSarkar = "Sarkar 2026", kOwn = "our own";
constexpr auto kNaive = "attention", kCausal = "causal attention", kNormalize = "l2_normalize";
constexpr Dims kHeads{64, 200, 64}, kSquare{128, 128, 64}, kRows{16, 1, 16384};

}  // namespace

KernelOp audit_op(const std::string& name) {
  if (name == kNaive || name == kCausal) {
    return kernel_op(attention_formula(name, name == kCausal));
  }
  if (name != kNormalize) return kernel_op(name);
  return kernel_op({.name = name,
                    .inputs = {{"m", "k"}},
                    .reference = [](const std::vector<BoundedArray>& in) -> BoundedArrays {
                      const BoundedArray length = sqrt(sum(square(in[0]), {1}, true));
                      return in[0] / maximum(length, constant(length, 1e-12));
                    }});
}

std::vector<AuditKernel> wrong_attention_kernels() {
  const auto one = [](float) { return 1.0f; };
  const auto without_root = [](float d) { return 1 / d; };
  return {
      {kSarkar, kNaive, kFloat32, "no 1 / sqrt(d)", kHeads, Attention{.scale = one}},
      {kSarkar, kCausal, kFloat32, "no 1 / sqrt(d)", kSquare,
       Attention{.causal = true, .scale = one}},
      {kSarkar, kNormalize, kFloat32, "no root", kRows, l2_normalize(false, 1e-12f)},
      {kOwn, kNaive, kFloat32, "1 / d, not 1 / sqrt(d)", kHeads, Attention{.scale = without_root}},
      {kOwn, kNaive, kFloat32, "the padding of the last 64 keys counts", kHeads,
       Attention{.padded_to = 64}},
      {kOwn, kNaive, kFloat32, "exp(s) without the maximum", kHeads,
       Attention{.subtracts_most = false}},
      {kOwn, kNaive, kFloat32, "tiles of keys without rescaling", kHeads,
       Attention{.online = true, .rescales = false}},
      {kOwn, kCausal, kFloat32, "sees the next key, too", kSquare,
       Attention{.causal = true, .last_seen = 1}},
      {kOwn, kCausal, kFloat32, "sees all keys", kSquare, Attention{}},
      {kOwn, kNormalize, kFloat32, "divides by at least 0.01", kRows, l2_normalize(true, 0.01f)},
  };
}

std::vector<AuditKernel> right_attention_kernels() {
  return {
      {kOwn, kNaive, kFloat32, "maximum, sum, quotient", kHeads, Attention{}},
      {kOwn, kNaive, kFloat32, "tiles of keys, rescaled", kHeads, Attention{.online = true}},
      {kOwn, kCausal, kFloat32, "tiles of keys, rescaled", kSquare,
       Attention{.causal = true, .online = true}},
      {kOwn, kNormalize, kFloat32, "sum, root, quotient", kRows, l2_normalize(true, 1e-12f)},
  };
}

}  // namespace halfgrad::testing::audit
