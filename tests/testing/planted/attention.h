#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <halfgrad/tests/testing/planted/calls.h>

/// Attention in one pass and in two, and with usual mistakes.
namespace halfgrad::testing::planted {

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

/// The gradients by query, key and value, from the output and the logsumexp of each query.
inline void attention_backward(const Calls& c, int mistake) {
  const I m = c.size(1, 1), n = c.size(2, 1), k = c.size(1, 2);
  const auto at = [](I i) { return static_cast<std::size_t>(i); };
  const float scale = 1 / std::sqrt(static_cast<float>(k));
  std::vector<float> dq(at(2 * m * k)), dk(at(2 * n * k)), dv(at(2 * n * k));
  for (I row = 0; row < 2 * m; ++row) {
    float delta = 0;
    for (I d = 0; d < k; ++d) delta += c.x(0, row * k + d) * c.x(4, row * k + d);
    if (mistake == 1) delta = 0;
    for (I j = 0; j < n; ++j) {
      const I key = (row / m * n + j) * k;
      float score = 0, dp = 0;
      for (I d = 0; d < k; ++d) {
        score += c.x(1, row * k + d) * c.x(2, key + d);
        dp += c.x(0, row * k + d) * c.x(3, key + d);
      }
      const float above = score * scale - c.x(5, row);
      const float p = mistake == -1
                          ? std::exp2(score * (scale * 1.44269504F) - c.x(5, row) * 1.44269504F)
                          : std::exp(above);
      const float ds = mistake == -1 ? c.stored(p * (dp - delta)) : p * (dp - delta);
      for (I d = 0; d < k; ++d) {
        dq[at(row * k + d)] += ds * c.x(2, key + d);
        dk[at(key + d)] += ds * c.x(1, row * k + d);
        dv[at(key + d)] += (mistake == -1 ? c.stored(p) : p) * c.x(0, row * k + d);
      }
    }
  }
  for (I i = 0; i < 2 * m * k; ++i) c.y(0, i, dq[at(i)] * scale);
  for (I i = 0; i < 2 * n * k; ++i) {
    c.y(1, i, dk[at(i)] * (mistake == 2 ? 1 : scale));
    c.y(2, i, mistake == 3 && i >= 128 * k ? 0 : dv[at(i)]);
  }
}

}  // namespace halfgrad::testing::planted
