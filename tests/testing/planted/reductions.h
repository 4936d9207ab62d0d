#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/variants.h>

/// Products, variances and extremes of rows, with one mistake or in another correct form.
namespace halfgrad::testing::planted {

/// The product of a row, with every partial product rounded to T.
struct ProductInStorage {
  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      float product = 1;
      for (std::int64_t i = 0; i < k; ++i) {
        product = through<T>(product * widened(in[0].data_as<T>()[row * k + i]));
      }
      out.data_as<T>()[row] = T(product);
    }
  }
};

inline float prod_of_logs(const std::vector<float>& x) {
  float sum = 0, sign = 1;
  for (const float each : x) {
    sum += std::log(std::fabs(each));
    sign = std::copysign(sign, each) * sign;
  }
  return sign * std::exp(sum);
}
inline float prod_backwards(const std::vector<float>& x) {
  float product = 1;
  for (auto each = x.rbegin(); each != x.rend(); ++each) product *= *each;
  return product;
}
inline float prod_in_two(const std::vector<float>& x) {
  float products[2] = {1, 1};
  for (std::size_t i = 0; i < x.size(); ++i) products[i % 2] *= x[i];
  return products[0] * products[1];
}

/// The partial sums of a row: one after another, or by doubling the distance (Hillis and Steele).
struct PartialSums {
  bool in_storage = false, without_own = false, doubling = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      std::vector<float> sums;
      for (std::int64_t i = 0; i < k; ++i) sums.push_back(widened(in[0].data_as<T>()[row * k + i]));
      for (std::size_t step = 1; step < (doubling ? sums.size() : 2); step *= 2) {
        const std::vector<float> before = sums;
        for (std::size_t i = step; i < sums.size(); ++i) {
          const float sum = (doubling ? before : sums)[i - step] + before[i];
          sums[i] = in_storage ? through<T>(sum) : sum;
        }
      }
      if (without_own) sums.insert(sums.begin(), 0);
      for (std::int64_t i = 0; i < k; ++i) {
        out.data_as<T>()[row * k + i] = T(sums[static_cast<std::size_t>(i)]);
      }
    }
  }
};

inline float mean_of(const std::vector<float>& x) {
  return sum_pairwise(x) / static_cast<float>(x.size());
}
/// sum (x - about)^2
inline float squares_about(const std::vector<float>& x, float about) {
  float squares = 0;
  for (const float each : x) squares += (each - about) * (each - about);
  return squares;
}
inline float freedom(const std::vector<float>& x) {
  return std::fmax(static_cast<float>(x.size()) - 1, 0.0f);
}
inline float var_one_pass(const std::vector<float>& x) {
  const auto n = static_cast<float>(x.size());
  const float mean = mean_of(x);
  return (squares_about(x, 0) / n - mean * mean) * n / freedom(x);
}
inline float var_biased(const std::vector<float>& x) {
  return squares_about(x, mean_of(x)) / static_cast<float>(x.size());
}
inline float var_two_passes(const std::vector<float>& x) {
  return squares_about(x, mean_of(x)) / freedom(x);
}
inline float var_welford(const std::vector<float>& x) {
  float mean = 0, squares = 0, count = 0;
  for (const float each : x) {
    const float distance = each - mean;
    mean += distance / ++count;
    squares += distance * (each - mean);
  }
  return squares / freedom(x);
}
inline float std_two_passes(const std::vector<float>& x) { return std::sqrt(var_two_passes(x)); }
inline float std_with_epsilon(const std::vector<float>& x) {
  return std::sqrt(var_two_passes(x) + 1e-5f);
}

inline float max_from_zero(const std::vector<float>& x) {
  float largest = 0;
  for (const float each : x) largest = each > largest || std::isnan(each) ? each : largest;
  return largest;
}

/// The index of a row's largest element: the first of equal ones, or the first NaN.
struct ArgMax {
  bool last_of_equal = false, ignores_nan = false;

  void operator()(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      const float* x = in[0].data_as<float>() + row * k;
      std::int64_t best = 0;
      for (std::int64_t i = 1; i < k; ++i) {
        const bool larger = last_of_equal ? x[i] >= x[best] : x[i] > x[best];
        const bool first_nan = std::isnan(x[i]) && !std::isnan(x[best]) && !ignores_nan;
        if (larger || first_nan) best = i;
      }
      out.data_as<std::int64_t>()[row] = best;
    }
  }
};

/// Whether all elements of a row are true: blocks of 8, then a tail.
struct All {
  bool misses_tail = false;

  void operator()(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      const bool* x = in[0].data_as<bool>() + row * k;
      bool holds = true;
      for (std::int64_t i = 0; i < (misses_tail ? k / 8 * 8 : k); ++i) holds = holds && x[i];
      out.data_as<bool>()[row] = holds;
    }
  }
};

}  // namespace halfgrad::testing::planted
