#pragma once

#include <cmath>
#include <cstdint>

#include <halfgrad/core/hd.h>
#include <halfgrad/core/math/philox.h>

/// Distributions: functors that turn a block of random words into values for halfgrad::random, the
/// same on every device. As in philox.h, every operation is correctly rounded and every a * b + c
/// is an explicit fma. So the compiler has nothing to contract (nvcc does, g++ may), and the bits
/// are equal everywhere.
namespace halfgrad::detail {

/// Values of type T that a distribution makes of one block.
template <class T>
inline constexpr int kPerBlock = static_cast<int>(sizeof(PhiloxBlock) / sizeof(T));

/// The uniform distribution on [low, low + range).
struct Uniform {
  double low, range, steps;  // `steps` equally likely values in [0, 1)
  double largest;            // value of the dtype below low + range, to which a sum may be rounded

  template <class T>
  HG_HD void operator()(const PhiloxBlock& block, T (&out)[kPerBlock<T>]) const {
    halfgrad::uniform(block, out);
    const T count = static_cast<T>(steps);
    for (T& x : out) {
      x = std::fma(static_cast<T>(range), std::floor(x * count) / count, static_cast<T>(low));
      x = x < static_cast<T>(largest) ? x : static_cast<T>(largest);
    }
  }
};

/// The normal distribution; `deviation` is the standard deviation.
struct Normal {
  double mean, deviation;

  template <class T>
  HG_HD void operator()(const PhiloxBlock& block, T (&out)[kPerBlock<T>]) const {
    halfgrad::normal(block, out);
    for (T& x : out) x = std::fma(static_cast<T>(deviation), x, static_cast<T>(mean));
  }
};

/// 1 with probability p, else 0.
struct Bernoulli {
  double p;

  HG_HD void operator()(const PhiloxBlock& block, float (&out)[4]) const {
    halfgrad::uniform(block, out);
    for (float& x : out) x = static_cast<double>(x) < p ? 1.0F : 0.0F;
  }
};

/// The uniform distribution on the integers low, ..., low + range - 1.
struct Integer {
  std::int64_t low;
  std::uint64_t range;

  HG_HD void operator()(const PhiloxBlock& block, std::int64_t (&out)[2]) const {
    std::uint64_t offsets[2];
    uniform_integer(block, range, offsets);
    for (int i = 0; i < 2; ++i) {
      out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offsets[i]);
    }
  }
};

/// Keeps the elements whose word is at least p 2^32, times 1 / (1 - p); drops the others.
struct Keep {
  std::uint64_t threshold;
  double scale;

  explicit Keep(double p)
      : threshold(static_cast<std::uint64_t>(std::ceil(std::ldexp(p, 32)))), scale(1 / (1 - p)) {}

  /// Returns 0 for a dropped element, even if it is inf or NaN.
  template <class T>
  HG_HD T operator()(std::uint32_t word, T x) const {
    return word >= threshold ? x * static_cast<T>(scale) : T(0);
  }
};

}  // namespace halfgrad::detail
