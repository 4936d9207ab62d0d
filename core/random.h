#pragma once

#include <cstdint>
#include <mutex>

#include <halfgrad/core/array.h>
#include <halfgrad/core/philox.h>

namespace halfgrad {

/// Hands out keys of random tensors: the seed, and a stream number that grows by one with every
/// tensor drawn. All its state is the next key, so saving that and setting it again repeats what
/// followed. May be used from several threads.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : next_{seed, 0} {}

  /// Starts again, from `seed`.
  void manual_seed(std::uint64_t seed) { set_state({seed, 0}); }
  std::uint64_t initial_seed() const { return get_state().seed; }

  RandomKey get_state() const;
  void set_state(RandomKey next);

  /// A key for the caller alone.
  RandomKey take();

 private:
  mutable std::mutex mutex_;
  RandomKey next_;
};

/// What everything random draws from unless told otherwise. Its seed is 0 until manual_seed().
Generator& default_generator();

/// Seeds the default generator.
void manual_seed(std::uint64_t seed);

/// Fill `out`, whatever its strides, with independent numbers; element i is a function of the key
/// and i alone, so neither threads nor layout matter. Floating types shorter than f64 get the
/// same numbers as f32, rounded once.
namespace random {

/// low + u (high - low) with u on [0, 1) in steps of one roundoff of out's dtype, so that u < 1
/// also in 16 bits. `out` is floating point. Throws std::invalid_argument unless low <= high.
void uniform(const Array& out, double low, double high, RandomKey key);

/// `out` is floating point. Throws std::invalid_argument unless std >= 0.
void normal(const Array& out, double mean, double std, RandomKey key);

/// 1 with probability p (in steps of 2^-24), else 0, in any dtype. Throws std::invalid_argument
/// unless 0 <= p <= 1.
void bernoulli(const Array& out, double p, RandomKey key);

/// Integers on [low, high), in any dtype. Throws std::invalid_argument unless low < high.
void integer(const Array& out, std::int64_t low, std::int64_t high, RandomKey key);

/// 0 ... n-1 in random order: int64 [n].
Array permutation(std::int64_t n, RandomKey key);

}  // namespace random

}  // namespace halfgrad
