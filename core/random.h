#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/array.h>
#include <halfgrad/core/philox.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {

/// Hands out keys of random tensors: the seed, and a stream number that grows by one with every
/// tensor drawn. All its state is the next key, so saving that and setting it again repeats what
/// followed. May be used from several threads.
///
/// What is drawn on a GPU while a Graph captures is drawn anew by every replay: the graph takes as
/// many keys then as it took when it was captured, so replays, and what is drawn between them, give
/// the numbers that plain calls would have given. Captured keys name places in device memory, and a
/// generator must outlive the graphs that use it.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : next_{seed, 0} {}

  /// Starts again, from `seed`.
  void manual_seed(std::uint64_t seed) { set_state({seed, 0}); }
  std::uint64_t initial_seed() const { return get_state().seed; }

  RandomKey get_state() const;
  void set_state(RandomKey next);

  /// A key for the caller alone; `count` keys, of which it returns the first.
  RandomKey take(std::uint64_t count = 1);

 private:
  mutable std::mutex mutex_;
  RandomKey next_;
};

namespace detail {

/// The random numbers of a captured graph: how many keys it took from each generator, and where in
/// device memory its kernels find the first of them.
class CapturedRandom {
 public:
  /// Makes every Generator::take of this thread take from here until the end of the scope.
  class Scope : GuardedValue<CapturedRandom*> {
   public:
    [[nodiscard]] explicit Scope(CapturedRandom& random);
  };

  explicit CapturedRandom(Device device);

  RandomKey take(Generator& generator, std::uint64_t count);
  /// Takes the keys of a replay, which current_stream(device) is about to run, and puts them where
  /// it looks: one small kernel for each generator, none if there are no random numbers.
  void prepare_replay() const;

 private:
  struct Source {
    Generator* generator;
    Array base;  // one RandomKey
    std::uint64_t taken;
  };

  Device device_;
  std::unique_ptr<allocator::Pool> pool_;  // of the bases alone
  std::vector<Source> sources_;
};

/// Makes `generator` the default_generator() of this thread until the end of the scope. A graph
/// that the thread captures does not follow it: what is drawn here is drawn once, not by every
/// replay.
class GeneratorScope {
 public:
  [[nodiscard]] explicit GeneratorScope(Generator& generator);

 private:
  ScopedValue<Generator*> default_;
  ScopedValue<CapturedRandom*> captured_;
};

}  // namespace detail

/// What everything random draws from unless told otherwise: one generator for all threads. Its seed
/// is 0 until manual_seed(). Where a DataLoader makes a batch, the batch's own.
Generator& default_generator();

/// Seeds the default generator.
void manual_seed(std::uint64_t seed);

/// Fill `out`, whatever its strides, with independent numbers; element i is a function of the key
/// and i alone, so neither threads nor layout nor the device matter. Floating types shorter than
/// f64 get the same numbers as f32, rounded once.
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
Array permutation(std::int64_t n, RandomKey key, Device device = {});

/// out[i] = 0 with probability p, else x[i] / (1 - p). Shapes, floating dtypes and devices equal.
void dropout(const Array& out, const Array& x, double p, RandomKey key);

}  // namespace random

}  // namespace halfgrad
