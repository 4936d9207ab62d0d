#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/array.h>
#include <halfgrad/core/math/philox.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {

/// Generates keys of random tensors: the seed, and a stream that grows by one with every tensor.
/// The state is the next key; restoring it repeats the values that followed. Thread-safe.
///
/// Every replay of a Graph draws new values: it takes as many keys as the capture took. So replays
/// and the draws between them give the values that plain calls would have given. Captured keys
/// refer to device memory, and a generator must outlive the graphs that use it.
class Generator {
 public:
  explicit Generator(std::uint64_t seed = 0) : next_{seed, 0} {}

  /// Restarts from `seed`.
  void manual_seed(std::uint64_t seed) { set_state({seed, 0}); }
  std::uint64_t initial_seed() const { return get_state().seed; }

  RandomKey get_state() const;
  void set_state(RandomKey next);

  /// Returns a key that no other caller gets; reserves `count` keys and returns the first.
  RandomKey take(std::uint64_t count = 1);

 private:
  mutable std::mutex mutex_;
  RandomKey next_;
};

namespace detail {

/// The random draws of a captured graph: how many keys it takes from each generator, and where in
/// device memory its kernels read the first of them.
class CapturedRandom {
 public:
  /// Redirects every Generator::take() of this thread to this object until the end of the scope.
  class Scope : GuardedValue<CapturedRandom*> {
   public:
    [[nodiscard]] explicit Scope(CapturedRandom& random);
  };

  explicit CapturedRandom(Device device);

  RandomKey take(Generator& generator, std::uint64_t count);
  /// Takes the keys of a replay that current_stream(device) is about to run, and writes them to
  /// device memory: one small kernel per generator, none without random draws.
  void prepare_replay() const;

 private:
  struct Source {
    Generator* generator;
    Array base;  // one RandomKey
    std::uint64_t taken;
  };

  Device device_;
  std::unique_ptr<allocator::Pool> pool_;  // contains only the bases
  std::vector<Source> sources_;
};

/// Makes `generator` the default_generator() of this thread until the end of the scope. A graph
/// that the thread captures ignores it: values drawn here are drawn once, not by every replay.
class GeneratorScope {
 public:
  [[nodiscard]] explicit GeneratorScope(Generator& generator);

 private:
  ScopedValue<Generator*> default_;
  ScopedValue<CapturedRandom*> captured_;
};

}  // namespace detail

/// The generator that random functions use by default: one for all threads, with seed 0 until
/// manual_seed(). While a DataLoader makes a batch, it is the generator of that batch.
Generator& default_generator();

/// Seeds the default generator.
void manual_seed(std::uint64_t seed);

/// Functions that fill `out`, of any strides, with independent values. Element i depends on the key
/// and i only, not on threads, strides or the device. Floating types shorter than f64 get the
/// values of f32, rounded once.
namespace random {

/// Fills with low + u (high - low); u is uniform on [0, 1) in steps of one roundoff of the dtype,
/// so u < 1 in 16 bits too. A result that would be rounded to `high` or above becomes the largest
/// value of the dtype below it. `out` is floating point. Throws std::invalid_argument for
/// low > high, and for a range high - low that is not finite.
void uniform(const Array& out, double low, double high, RandomKey key);

/// Fills with normal values. `out` is floating point. Throws std::invalid_argument unless std >= 0.
void normal(const Array& out, double mean, double std, RandomKey key);

/// Fills with 1 with probability p (in steps of 2^-24), else 0, in any dtype. Throws
/// std::invalid_argument unless 0 <= p <= 1.
void bernoulli(const Array& out, double p, RandomKey key);

/// Fills with integers on [low, high), in any dtype. Throws std::invalid_argument if low >= high.
void integer(const Array& out, std::int64_t low, std::int64_t high, RandomKey key);

/// Returns 0 ... n-1 in random order: int64 [n].
Array permutation(std::int64_t n, RandomKey key, Device device = {});

/// Sets out[i] to 0 with probability p, else to x[i] / (1 - p). Shape, floating dtype and device of
/// both are equal.
void dropout(const Array& out, const Array& x, double p, RandomKey key);

}  // namespace random

}  // namespace halfgrad
