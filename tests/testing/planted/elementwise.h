#pragma once

#include <bit>
#include <cmath>
#include <vector>

#include <halfgrad/tests/testing/planted/bug.h>

namespace halfgrad::testing::planted {

/// a + b in blocks of 8 and a tail, like a vectorised kernel.
struct Add {
  Bug bug = Bug::none;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t n = out.numel();
    const bool strided = bug != Bug::add_ignores_stride && n > 0;
    const auto at = [&](const Array& array, std::int64_t i) {
      if (!strided) return i;
      const std::int64_t columns = array.size(1);
      return i / columns * array.strides()[0] + i % columns * array.strides()[1];
    };
    T* a = in[0].data_as<T>();
    const T* b = in[1].data_as<T>();
    T* y = out.data_as<T>();
    if (bug == Bug::add_aligns_pointer) {
      a = reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(a) / 16 * 16);
    }
    const auto store = [&](std::int64_t i) {
      const float sum = widened(a[at(in[0], i)]) + widened(b[at(in[1], i)]);
      y[at(out, i)] = rounded<T>(sum);
      if (bug == Bug::add_scratch_in_input) a[at(in[0], i)] = T(sum);
    };

    static std::vector<T> cache;
    if (bug == Bug::add_caches_result && static_cast<std::int64_t>(cache.size()) == n) {
      for (std::int64_t i = 0; i < n; ++i) y[at(out, i)] = cache[static_cast<std::size_t>(i)];
      return;
    }
    std::int64_t i = bug == Bug::add_writes_one_before && n > 0 ? -1 : 0;
    for (; i + 8 <= n; i += 8) {
      for (std::int64_t lane = 0; lane < 8; ++lane) store(i + lane);
    }
    std::int64_t end = n;
    if (bug == Bug::add_missing_tail) end = i;
    if (bug == Bug::add_tail_off_by_one) end = n - 1;
    if (bug == Bug::add_writes_one_beyond) end = n + 1;
    for (; i < end; ++i) store(i);
    if (bug == Bug::add_caches_result) {
      cache.clear();
      for (i = 0; i < n; ++i) cache.push_back(y[at(out, i)]);
    }
  }

 private:
  template <class T>
  T rounded(float sum) const {
    const float largest = static_cast<float>(limits_of(dtype_of<T>()).largest);
    switch (bug) {
      case Bug::add_flushes_to_zero:
        return T(std::fabs(sum) < 0x1p-126f ? 0.0f : sum);
      case Bug::add_swallows_nan:
        return T(std::isnan(sum) ? 0.0f : sum);
      case Bug::add_saturates:
        return T(std::fmin(std::fmax(sum, -largest), largest));
      case Bug::add_truncates:
        return T(std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) & 0xffff0000u));
      case Bug::add_rounds_twice:
        return T(through<Half>(sum));
      default:
        return T(sum);
    }
  }
};

/// An elementwise kernel of one operand.
template <class F>
struct Map {
  F f;

  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      out.data_as<T>()[i] = T(f(widened(in[0].data_as<T>()[i])));
    }
  }
};

template <class F>
Map(F) -> Map<F>;  // clang 14 does not deduce F of an aggregate

inline Kernel relu(Bug bug) {
  return on_dtype(Map{[=](float x) {
    if (bug == Bug::relu_swallows_nan) return std::fmax(x, 0.0f);
    return x < 0 ? 0.0f : x;
  }});
}

inline Kernel sigmoid(Bug bug) {
  return on_dtype(Map{[=](float x) {
    const float e = std::exp(bug == Bug::sigmoid_overflows ? x : -std::fabs(x));
    return (bug == Bug::sigmoid_overflows || x < 0 ? e : 1.0f) / (1 + e);
  }});
}

inline Kernel gelu(Bug bug) {
  return on_dtype(Map{[=](float x) {
    const float tanh_argument = 0.79788456f * (x + 0.044715f * x * x * x);
    const float half_phi =
        bug == Bug::gelu_by_tanh ? std::tanh(tanh_argument) : std::erf(x * 0.70710678f);
    return x == 0 ? x : 0.5f * x * (1 + half_phi);
  }});
}

}  // namespace halfgrad::testing::planted
