#include <halfgrad/core/random.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <halfgrad/core/cuda/kernels/random.h>
#include <halfgrad/core/engines/tile.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/random_distributions.h>
#include <halfgrad/core/numbers/convert.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad {

RandomKey Generator::get_state() const {
  const std::lock_guard lock(mutex_);
  return next_;
}

void Generator::set_state(RandomKey next) {
  const std::lock_guard lock(mutex_);
  next_ = next;
}

namespace {

thread_local constinit detail::CapturedRandom* captured = nullptr;
thread_local constinit Generator* replaced_default = nullptr;  // nullptr: the shared one

}  // namespace

RandomKey Generator::take(std::uint64_t count) {
  if (captured != nullptr) return captured->take(*this, count);
  const std::lock_guard lock(mutex_);
  const RandomKey key = next_;
  next_.stream += count;
  return key;
}

namespace detail {

CapturedRandom::CapturedRandom(Device device)
    : device_(device), pool_(std::make_unique<allocator::Pool>(device)) {}

CapturedRandom::Scope::Scope(CapturedRandom& random) : GuardedValue("Graph", captured, &random) {}

RandomKey CapturedRandom::take(Generator& generator, std::uint64_t count) {
  auto source = std::find_if(sources_.begin(), sources_.end(),
                             [&](const Source& s) { return s.generator == &generator; });
  if (source == sources_.end()) {
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(RandomKey));
    // A separate pool: a block of the graph's pool may be reused by its kernels, which would
    // overwrite the key that is written before the replay.
    const allocator::PoolScope own_pool(*pool_);
    const Array base = Array::empty({kBytes}, DType::u8, device_);
    source = sources_.insert(source, {&generator, base, 0});
  }
  const RandomKey key{0, source->taken, source->base.data_as<const RandomKey>()};
  source->taken += count;
  return key;
}

void CapturedRandom::prepare_replay() const {
  for (const Source& source : sources_) {
    set_random_base_on_cuda(source.base, source.generator->take(source.taken));
  }
}

GeneratorScope::GeneratorScope(Generator& generator)
    : default_(replaced_default, &generator), captured_(captured, nullptr) {}

}  // namespace detail

Generator& default_generator() {
  static Generator for_all_threads;
  return replaced_default != nullptr ? *replaced_default : for_all_threads;
}

void manual_seed(std::uint64_t seed) { default_generator().manual_seed(seed); }

namespace random {
namespace {

using detail::Bernoulli;
using detail::Integer;
using detail::kPerBlock;
using detail::kTile;
using detail::Normal;
using detail::Uniform;

std::string random_op(const char* op) { return std::string("random ") + op; }

void require(bool valid, const char* op, const char* expected, double a, double b) {
  if (!valid) detail::fail(random_op(op), "expected {}, got {} and {}", expected, a, b);
}

void require_floating_point(const Array& out, const char* op) {
  if (!is_floating_point(out.dtype())) {
    detail::fail(random_op(op), "expected a floating-point dtype, got {}", out.dtype());
  }
}

void require_eager(RandomKey key, const char* op) {
  if (key.base == nullptr) return;
  detail::fail(random_op(op),
               "expected an array on the GPU whose graph is captured, got one on the CPU");
}

template <class T, class Distribution>
void fill(const Array& out, const Distribution& distribution, RandomKey key) {
  if (out.device().is_cuda()) return detail::fill_random_on_cuda(out, distribution, key);
  require_eager(key, "fill");
  constexpr int kBlocks = 32;
  constexpr std::int64_t kElements = kBlocks * kPerBlock<T>;
  static_assert(kTile % kElements == 0);
  const detail::TileView view(out);
  const auto fill_tile = [&](std::int64_t begin, std::int64_t n) {
    T scratch[kTile];
    T* const target = view.target(begin, scratch);
    for (std::int64_t i = 0; i < n; i += kElements) {
      PhiloxBlock blocks[kBlocks];
      random_blocks(key, static_cast<std::uint64_t>((begin + i) / kPerBlock<T>), blocks);
      T values[kBlocks][kPerBlock<T>];
      for (int k = 0; k < kBlocks; ++k) distribution(blocks[k], values[k]);
      std::copy_n(values[0], std::min(kElements, n - i), target + i);
    }
    view.commit(begin, n, target);
  };
  detail::for_each_tile(out.numel(), fill_tile);
}

template <class T>
void drop(const Array& out, const Array& x, const detail::Keep& keep, RandomKey key) {
  constexpr int kBlocks = 32;
  constexpr std::int64_t kWords = 4 * kBlocks;
  static_assert(kTile % kWords == 0);
  const detail::TileView inputs(x, out.sizes());
  const detail::TileView outputs(out);
  detail::for_each_tile(out.numel(), [&](std::int64_t begin, std::int64_t n) {
    T in_scratch[kTile];
    T out_scratch[kTile];
    const T* const in = inputs.read(begin, n, in_scratch);
    T* const result = outputs.target(begin, out_scratch);
    for (std::int64_t i = 0; i < n; i += kWords) {
      PhiloxBlock blocks[kBlocks];
      random_blocks(key, static_cast<std::uint64_t>((begin + i) / 4), blocks);
      const auto words = std::bit_cast<std::array<std::uint32_t, kWords>>(blocks);
      for (std::int64_t k = 0; k < std::min(kWords, n - i); ++k) {
        result[i + k] = keep(words[k], in[i + k]);
      }
    }
    outputs.commit(begin, n, result);
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

// The largest value below `high` of the floating-point type T.
template <class T>
double largest_below(double high) {
  const auto nearest = detail::convert<T>(high);
  const auto value = static_cast<compute_t<T>>(nearest);
  if (value < high) return value;
  if constexpr (std::is_floating_point_v<T>) {
    return std::nextafter(nearest, -std::numeric_limits<T>::infinity());
  } else {
    // The bits are sign and magnitude: a smaller negative value has larger bits.
    const int below = value == 0 ? 0x8001 : nearest.bits + (value < 0 ? 1 : -1);
    return static_cast<compute_t<T>>(T::from_bits(static_cast<std::uint16_t>(below)));
  }
}

// The largest value of `dtype` in [low, high), or `high` if there is none.
double largest_within(double low, double high, DType dtype) {
  return visit(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (is_floating_point(dtype_of<T>())) {
      const double largest = largest_below<T>(high);
      if (largest >= low) return largest;
    }
    return high;
  });
}

// The keys by which detail::sort_key() sorts a permutation of n elements.
std::vector<std::uint64_t> permutation_keys(std::int64_t n, RandomKey key) {
  constexpr int kBlocks = 32;
  constexpr std::int64_t kKeys = 2 * kBlocks;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(n));
  parallel_for(0, n, 64 * kKeys, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; i += kKeys) {
      PhiloxBlock blocks[kBlocks];
      random_blocks(key, static_cast<std::uint64_t>(i) / 2, blocks);
      const auto words = std::bit_cast<std::array<std::uint32_t, 2 * kKeys>>(blocks);
      for (std::int64_t k = 0; k < std::min(kKeys, end - i); ++k) {
        keys[static_cast<std::size_t>(i + k)] = detail::join(words[2 * k], words[2 * k + 1]);
      }
    }
  });
  return keys;
}

// Writes the same order as random_permutation(). The keys are uniform, so their highest bits spread
// them over buckets of about 8 keys, and each bucket is sorted alone.
void write_permutation(std::int64_t* out, std::int64_t n, RandomKey key) {
  const std::vector<std::uint64_t> keys = permutation_keys(n, key);
  int bits = 1;
  while ((n >> bits) > 8) ++bits;
  const auto bucket_of = [bits](std::uint64_t k) { return k >> (64 - bits); };
  std::vector<std::int64_t> bounds(std::size_t{1} << bits);
  for (const std::uint64_t k : keys) ++bounds[bucket_of(k)];
  std::partial_sum(bounds.begin(), bounds.end(), bounds.begin());
  // Placing the elements from last to first lowers the end of each bucket to its begin.
  std::vector<std::pair<std::uint64_t, std::int64_t>> keyed(keys.size());
  auto* const items = keyed.data();
  for (std::int64_t i = n - 1; i >= 0; --i) {
    const std::uint64_t k = keys[static_cast<std::size_t>(i)];
    items[--bounds[bucket_of(k)]] = {k, i};
  }
  bounds.push_back(n);
  parallel_for(0, std::int64_t{1} << bits, 1024, [&](std::int64_t begin, std::int64_t end) {
    for (auto b = static_cast<std::size_t>(begin); b < static_cast<std::size_t>(end); ++b) {
      std::sort(items + bounds[b], items + bounds[b + 1]);
      for (std::int64_t i = bounds[b]; i < bounds[b + 1]; ++i) out[i] = items[i].second;
    }
  });
}

}  // namespace

void uniform(const Array& out, double low, double high, RandomKey key) {
  require_floating_point(out, "uniform");
  require(low <= high, "uniform", "low <= high", low, high);
  const bool narrow = out.dtype() != DType::f64;
  const double largest =
      narrow ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  require(high - low <= largest, "uniform", "a finite range", low, high);
  const Uniform distribution{low, high - low, 1 / roundoff(out.dtype()),
                             largest_within(low, high, out.dtype())};
  fill_floating_point(out, distribution, key);
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

Array permutation(std::int64_t n, RandomKey key, Device device) {
  if (n < 0) {
    detail::fail(random_op("permutation"), "expected n >= 0, got {}", n);
  }
  if (device.is_cuda()) return detail::permutation_on_cuda(n, key, device);
  require_eager(key, "permutation");
  const Array out = Array::empty({n}, DType::i64);
  write_permutation(out.data_as<std::int64_t>(), n, key);
  return out;
}

void dropout(const Array& out, const Array& x, double p, RandomKey key) {
  require(p >= 0 && p <= 1, "dropout", "probabilities p and 1 - p in [0, 1]", p, 1 - p);
  const detail::Keep keep(p);
  if (out.device().is_cuda()) return detail::dropout_on_cuda(out, x, keep, key);
  require_eager(key, "dropout");
  if (x.dtype() == DType::f64) {
    drop<double>(out, x, keep, key);
  } else {
    drop<float>(out, x, keep, key);
  }
}

}  // namespace random
}  // namespace halfgrad
