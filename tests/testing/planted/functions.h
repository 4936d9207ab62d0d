#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/elementwise.h>

/// Functions of one and two arguments, with one mistake or in another correct form; elementwise
/// kernels of them, and losses, which are their means.
namespace halfgrad::testing::planted {

using Function = float (*)(float);
using Function2 = float (*)(float, float);

inline Kernel map(Function f) { return on_dtype(Map<Function>{f}); }

struct Map2 {
  Function2 f;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      out.data_as<T>()[i] = T(f(widened(in[0].data_as<T>()[i]), widened(in[1].data_as<T>()[i])));
    }
  }
};
inline Kernel map(Function2 f) { return on_dtype(Map2{f}); }

/// The mean of f(x, target). A kernel may store the losses in T, but not their sum.
struct MeanLoss {
  Function2 f;
  bool store_losses = false, sum_in_storage = false, by_rows = false;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t count = in[0].numel();
    float sum = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const float loss = f(widened(in[0].data_as<T>()[i]), widened(in[1].data_as<T>()[i]));
      sum += store_losses ? through<T>(loss) : loss;
      if (sum_in_storage) sum = through<T>(sum);
    }
    out.data_as<T>()[0] = T(sum / static_cast<float>(by_rows ? in[0].size(0) : count));
  }
};

inline float flushed(float y) { return std::fabs(y) < 0x1p-126f ? 0 : y; }
inline float exp_flushing(float x) { return flushed(std::exp(x)); }
inline float exp2_by_exp(float x) { return std::exp(x * 0.69314718f); }
inline float exp_by_exp2(float x) { return std::exp2(x * 1.44269504f); }
inline float log_of_normal(float x) { return std::log(flushed(x)); }
inline float log10_by_log(float x) { return std::log(x) * 0.43429448f; }
inline float log_of_sum(float x) { return std::log(1 + x); }
inline float exp_less_one(float x) { return std::exp(x) - 1; }
inline float sin_by_float_pi(float x) {
  return std::sin(x - 6.2831853f * std::nearbyint(x / 6.2831853f));
}
inline float sin_in_double(float x) { return static_cast<float>(std::sin(static_cast<double>(x))); }
inline float tan_by_sines(float x) { return std::sin(x) / std::cos(x); }
inline float fmod_by_quotient(float x, float y) { return x - std::trunc(x / y) * y; }
inline float remainder_by_quotient(float x, float y) { return x - std::floor(x / y) * y; }
inline float remainder_by_fmod(float x, float y) {
  const float left = std::fmod(x, y);
  return left != 0 && (left < 0) != (y < 0) ? left + y : left;
}
inline float tanh_by_exp(float x) {
  const float e = std::exp(-2 * std::fabs(x));
  return std::copysign((1 - e) / (1 + e), x);
}
inline float tanh_by_expm1(float x) {
  const float e = std::expm1(-2 * std::fabs(x));
  return std::isnan(x) ? x : std::copysign(-e / (2 + e), x);
}
/// Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26: accurate to 1.5e-7.
inline float erf_by_five_terms(float x) {
  const float t = 1 / (1 + 0.3275911f * std::fabs(x));
  const float sum =
      ((((1.061405429f * t - 1.453152027f) * t + 1.421413741f) * t - 0.284496736f) * t +
       0.254829592f) *
      t;
  return std::copysign(1 - sum * std::exp(-x * x), x);
}
inline float pow_by_log(float x, float exponent) { return std::exp(exponent * std::log(x)); }
inline float pow_in_double(float x, float exponent) {
  return static_cast<float>(std::pow(static_cast<double>(x), exponent));
}
/// A first guess from the bits, then two Newton steps.
inline float rsqrt_by_bits(float x) {
  if (!(x > 0) || std::isinf(x)) return 1 / std::sqrt(x);
  float y = std::bit_cast<float>(0x5f3759dfu - std::bit_cast<std::uint32_t>(x) / 2);
  for (int step = 0; step < 2; ++step) y *= 1.5f - 0.5f * x * y * y;
  return y;
}
inline float rsqrt_by_division(float x) { return 1 / std::sqrt(x); }
inline float sigmoid_from_one(float x) { return 1 - 1 / (1 + std::exp(x)); }
inline float sigmoid_by_exp(float x) { return 1 / (1 + std::exp(-x)); }
inline float silu_by_exp_of_x(float x) { return x * (std::exp(x) / (1 + std::exp(x))); }
inline float silu_by_division(float x) { return x / (1 + std::exp(-x)); }
inline float softplus_by_log(float x) { return x > 20 ? x : std::log(1 + std::exp(x)); }
inline float softplus_cut_off(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }
inline float elu_by_exp(float x) { return x > 0 ? x : std::exp(x) - 1; }
inline float elu_by_expm1(float x) { return x > 0 ? x : std::expm1(x); }
inline float gelu_by_erfc(float x) { return x * (0.5f * std::erfc(x * -0.70710678f)); }
inline float gelu_by_erf(float x) { return x * 0.5f * (1 + std::erf(x * 0.70710678f)); }
inline float gelu_tanh(float x) {
  return 0.5f * x * (1 + std::tanh(0.79788456f * (x + 0.044715f * x * x * x)));
}

inline float absolute_difference(float x, float t) { return std::fabs(x - t); }
inline float squared_difference(float x, float t) { return (x - t) * (x - t); }
inline float smooth_difference(float x, float t) {
  const float d = std::fabs(x - t);
  return d < 1 ? 0.5f * d * d : d - 0.5f;
}
inline float smooth_without_half(float x, float t) {
  const float d = std::fabs(x - t);
  return d < 1 ? d * d : d - 0.5f;
}
inline float not_below(float log) { return log < -100 ? -100 : log; }
inline float bce_by_log(float p, float t) {
  return (t - 1) * not_below(std::log(1 - p)) - t * not_below(std::log(p));
}
inline float bce_unbounded(float p, float t) { return (t - 1) * std::log1p(-p) - t * std::log(p); }
inline float bce(float p, float t) {
  return (t - 1) * not_below(std::log1p(-p)) - t * not_below(std::log(p));
}
inline float logits_bce_by_sigmoid(float x, float t) {
  const float p = sigmoid_by_exp(x);
  return (t - 1) * std::log(1 - p) - t * std::log(p);
}
inline float logits_bce(float x, float t) {
  return std::fmax(x, 0.0f) - t * x + std::log1p(std::exp(-std::fabs(x))) + (x - x);
}
inline float kl_without_zero(float x, float t) { return t * (std::log(t) - x); }
inline float kl(float x, float t) { return (t == 0 ? 0 : t * std::log(t)) - t * x; }

}  // namespace halfgrad::testing::planted
