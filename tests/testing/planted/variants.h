#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <halfgrad/tests/testing/planted/bug.h>

/// Correct variants: other orders of summation, fused multiply-adds, wider accumulation.
namespace halfgrad::testing::planted {

/// Applies f to each row of the first operand, widened to float: one result a row.
template <class F>
struct EachRow {
  F f;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    std::vector<float> row(static_cast<std::size_t>(k));
    for (std::int64_t r = 0; r < in[0].size(0); ++r) {
      const T* x = in[0].data_as<T>() + r * k;
      std::transform(x, x + k, row.begin(), [](T each) { return widened(each); });
      out.data_as<T>()[r] = T(f(row));
    }
  }
};

using RowSum = float (*)(const std::vector<float>&);

inline float sum_backwards(const std::vector<float>& x) {
  return std::accumulate(x.rbegin(), x.rend(), 0.0f);
}
inline float sum_in_double(const std::vector<float>& x) {
  return static_cast<float>(std::accumulate(x.begin(), x.end(), 0.0));
}
inline float sum_in_four(const std::vector<float>& x) {
  float sums[4] = {};
  for (std::size_t i = 0; i < x.size(); ++i) sums[i % 4] += x[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
inline float sum_pairwise(const std::vector<float>& x) {
  std::vector<float> sums = x;
  for (; sums.size() > 1; sums.resize((sums.size() + 1) / 2)) {
    if (sums.size() % 2 == 1) sums.push_back(0);
    for (std::size_t i = 0; i < sums.size() / 2; ++i) sums[i] = sums[2 * i] + sums[2 * i + 1];
  }
  return sums.empty() ? 0 : sums[0];
}
inline float sum_compensated(const std::vector<float>& x) {
  float sum = 0, lost = 0;
  for (const float each : x) {
    const float next = sum + each;
    const float rest =
        std::fabs(sum) >= std::fabs(each) ? (sum - next) + each : (each - next) + sum;
    lost += std::isfinite(rest) ? rest : 0;
    sum = next;
  }
  return sum + lost;
}
inline float norm_scaled(const std::vector<float>& x) {
  float largest = 0, squares = 0;
  for (const float each : x) largest = std::fmax(largest, std::fabs(each));
  const bool ordinary = largest > 0 && std::isfinite(largest);
  // A power of two, so that scaling does not round.
  const float scale = ordinary ? std::exp2(std::fmax(-120.0f, std::floor(std::log2(largest)))) : 1;
  for (const float each : x) squares += each / scale * (each / scale);
  return scale * std::sqrt(squares);
}
inline float logsumexp_in_double(const std::vector<float>& x) {
  const float largest = *std::max_element(x.begin(), x.end());
  if (std::isinf(largest) &&
      std::none_of(x.begin(), x.end(), [](float v) { return std::isnan(v); })) {
    return largest;
  }
  double sum = 0;
  for (const float each : x) sum += std::exp(static_cast<double>(each) - largest);
  return static_cast<float>(largest + std::log(sum));
}

enum class Loops : std::uint8_t { dot, fma, backwards, split_k, in_double };

struct GemmVariant {
  Loops loops;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t m = in[0].size(0), k = in[0].size(1), n = in[1].size(1);
    const T* a = in[0].data_as<T>();
    const T* b = in[1].data_as<T>();
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        float sums[2] = {};
        double long_sum = 0;
        for (std::int64_t p = 0; p < k; ++p) {
          const std::int64_t q = loops == Loops::backwards ? k - 1 - p : p;
          const float left = widened(a[i * k + q]), right = widened(b[q * n + j]);
          float& sum = sums[loops == Loops::split_k && p >= k / 2 ? 1 : 0];
          sum = loops == Loops::fma ? std::fma(left, right, sum) : sum + left * right;
          long_sum += static_cast<double>(left) * right;
        }
        const float total = sums[0] + sums[1];
        out.data_as<T>()[i * n + j] =
            T(loops == Loops::in_double ? static_cast<float>(long_sum) : total);
      }
    }
  }
};

/// Softmax in three passes; the exponential as 2^(x log2(e)), or the sum in double.
struct SoftmaxVariant {
  bool base_two = false, in_double = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      const T* x = in[0].data_as<T>() + row * k;
      T* y = out.data_as<T>() + row * k;
      float largest = -std::numeric_limits<float>::infinity();
      double sum = 0;
      float short_sum = 0;
      for (std::int64_t i = 0; i < k; ++i) largest = std::fmax(largest, widened(x[i]));
      for (std::int64_t i = 0; i < k; ++i) {
        const float e = exponential(widened(x[i]) - largest);
        sum += e;
        short_sum += e;
      }
      const float divisor = in_double ? static_cast<float>(sum) : short_sum;
      for (std::int64_t i = 0; i < k; ++i)
        y[i] = T(exponential(widened(x[i]) - largest) * (1 / divisor));
    }
  }

 private:
  float exponential(float x) const { return base_two ? std::exp2(x * 1.44269504f) : std::exp(x); }
};

/// layer_norm with mean and variance in one pass: Welford's updates, or sums in double.
struct LayerNormVariant {
  bool welford = true;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      const T* x = in[0].data_as<T>() + row * k;
      float mean = 0, squares = 0;
      double sum = 0, long_squares = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        const float each = widened(x[i]);
        const float distance = each - mean;
        mean += distance / static_cast<float>(i + 1);
        squares += distance * (each - mean);
        sum += each;
        long_squares += static_cast<double>(each) * each;
      }
      const auto count = static_cast<double>(k);
      const double long_mean = sum / count;
      double variance = squares / count;
      if (!welford) {
        mean = static_cast<float>(long_mean);
        variance = long_squares / count - long_mean * long_mean;
      }
      const auto deviation = static_cast<float>(std::sqrt(variance + 1e-5));
      for (std::int64_t i = 0; i < k; ++i) {
        out.data_as<T>()[row * k + i] =
            T((widened(x[i]) - mean) / deviation * widened(in[1].data_as<T>()[i]) +
              widened(in[2].data_as<T>()[i]));
      }
    }
  }
};

}  // namespace halfgrad::testing::planted
