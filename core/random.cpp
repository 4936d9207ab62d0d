#include <halfgrad/core/random.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/core/thread_pool.h>
#include <halfgrad/core/tile.h>

namespace halfgrad {

RandomKey Generator::get_state() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

void Generator::set_state(RandomKey next) {
  const std::lock_guard lock(mutex_);
  next_ = next;
}

RandomKey Generator::take() {
  const std::lock_guard lock(mutex_);
  const RandomKey key = next_;
  ++next_.stream;
  return key;
}

Generator& default_generator() {
  static Generator generator;
  return generator;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

namespace random {
namespace {

using detail::kTile;

void require(bool valid, const char* op, const char* expected, double a, double b) {
  if (!valid) {
    throw std::invalid_argument(std::string("random ") + op + ": expected " + expected + ", got " +
                                std::to_string(a) + " and " + std::to_string(b));
  }
}

void require_floating_point(const Array& out, const char* op) {
  if (!is_floating_point(out.dtype())) {
    throw std::invalid_argument(std::string("random ") + op +
                                ": expected a floating-point dtype, got " +
                                std::string(name(out.dtype())));
  }
}

// Numbers of type T that a distribution makes of one block.
template <class T>
inline constexpr int kPerBlock = static_cast<int>(sizeof(PhiloxBlock) / sizeof(T));

struct Uniform {
  double low, range, steps;  // `steps` to 1

  template <class T>
  void operator()(const PhiloxBlock& block, T (&out)[kPerBlock<T>]) const {
    halfgrad::uniform(block, out);
    const T count = static_cast<T>(steps);
    for (T& x : out) {
      x = std::fma(static_cast<T>(range), std::floor(x * count) / count, static_cast<T>(low));
    }
  }
};

struct Normal {
  double mean, deviation;

  template <class T>
  void operator()(const PhiloxBlock& block, T (&out)[kPerBlock<T>]) const {
    halfgrad::normal(block, out);
    for (T& x : out) x = std::fma(static_cast<T>(deviation), x, static_cast<T>(mean));
  }
};

struct Bernoulli {
  double p;

  void operator()(const PhiloxBlock& block, float (&out)[4]) const {
    halfgrad::uniform(block, out);
    for (float& x : out) x = static_cast<double>(x) < p ? 1.0F : 0.0F;
  }
};

struct Integer {
  std::int64_t low;
  std::uint64_t range;

  void operator()(const PhiloxBlock& block, std::int64_t (&out)[2]) const {
    std::uint64_t offsets[2];
    uniform_integer(block, range, offsets);
    for (int i = 0; i < 2; ++i) {
      out[i] = static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offsets[i]);
    }
  }
};

template <class T, class Distribution>
void fill(const Array& out, const Distribution& distribution, RandomKey key) {
  constexpr int kBlocks = 32;
  constexpr std::int64_t kNumbers = kBlocks * kPerBlock<T>;
  static_assert(kTile % kNumbers == 0);
  const detail::TileWriter writer(out);
  const auto fill_tile = [&](std::int64_t begin, std::int64_t n) {
    T scratch[kTile];
    T* const target = writer.target(begin, scratch);
    for (std::int64_t i = 0; i < n; i += kNumbers) {
      PhiloxBlock blocks[kBlocks];
      random_blocks(key, static_cast<std::uint64_t>((begin + i) / kPerBlock<T>), blocks);
      T numbers[kBlocks][kPerBlock<T>];
      for (int k = 0; k < kBlocks; ++k) distribution(blocks[k], numbers[k]);
      std::copy_n(numbers[0], std::min(kNumbers, n - i), target + i);
    }
    writer.commit(begin, n, target);
  };
  parallel_for(0, out.numel(), detail::kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kTile) fill_tile(at, std::min(kTile, end - at));
  });
}

template <class Distribution>
void fill_floating_point(const Array& out, const Distribution& distribution, RandomKey key) {
  if (out.dtype() == DType::f64) {
    fill<double>(out, distribution, key);
  } else {
    fill<float>(out, distribution, key);
  }
}

}  // namespace

void uniform(const Array& out, double low, double high, RandomKey key) {
  require_floating_point(out, "uniform");
  require(low <= high, "uniform", "low <= high", low, high);
  fill_floating_point(out, Uniform{low, high - low, 1 / roundoff(out.dtype())}, key);
}

void normal(const Array& out, double mean, double std, RandomKey key) {
  require_floating_point(out, "normal");
  require(std >= 0, "normal", "a mean, and a standard deviation >= 0", mean, std);
  fill_floating_point(out, Normal{mean, std}, key);
}

void bernoulli(const Array& out, double p, RandomKey key) {
  require(p >= 0 && p <= 1, "bernoulli", "probabilities p and 1 - p in [0, 1]", p, 1 - p);
  fill<float>(out, Bernoulli{p}, key);
}

void integer(const Array& out, std::int64_t low, std::int64_t high, RandomKey key) {
  require(low < high, "integer", "low < high", static_cast<double>(low), static_cast<double>(high));
  const std::uint64_t range = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
  fill<std::int64_t>(out, Integer{low, range}, key);
}

Array permutation(std::int64_t n, RandomKey key) {
  const std::vector<std::int64_t> order = random_permutation(n, key);
  const Array out = Array::empty({n}, DType::i64);
  std::copy(order.begin(), order.end(), out.data_as<std::int64_t>());
  return out;
}

}  // namespace random
}  // namespace halfgrad
