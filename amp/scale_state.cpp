#include <halfgrad/amp/scale_state.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include <halfgrad/core/elementwise.h>
#include <halfgrad/core/math.h>
#include <halfgrad/core/simd.h>
#include <halfgrad/core/thread_pool.h>

namespace halfgrad::detail {
namespace {

float& float_in(const Array& array) { return *array.data_as<float>(); }
std::int32_t& int_in(const Array& array) { return *array.data_as<std::int32_t>(); }
std::int64_t& counter(const ScaleState& state, ScaleState::Counter which) {
  return state.counters.data_as<std::int64_t>()[which];
}

bool is_bad(const Array& found_inf) { return float_in(found_inf) != 0; }

void store_scale(const ScaleState& state, float scale) {
  float_in(state.scale) = scale;
  float_in(state.inv_scale) = static_cast<float>(1.0 / static_cast<double>(scale));
  state.scale.storage()->bump_version();  // a loss scaled before has its old scale saved
}

// The smallest magnitude that rounds to infinity.
double overflow_limit(DType dtype) {
  switch (dtype) {
    case DType::f16:
      return 65520;
    case DType::bf16:
      return 0x1.ffp127;
    default:
      return std::numeric_limits<double>::infinity();
  }
}

// y = x * inv_scale, finite where |x * probe| < limit.
template <class T>
struct Unscale {
  T inv_scale;
  T probe;
  T limit;

  bool all_finite(const T* x, std::int64_t n) const {
    constexpr std::int64_t kWidth = Pack<T>::size;
    const Pack<T> factor(probe);
    const Pack<T> bound(limit);
    Mask<T> finite = factor == factor;
    std::int64_t i = 0;
    for (; i + kWidth <= n; i += kWidth) {
      finite = finite & (math::abs(Pack<T>::load(x + i) * factor) < bound);
    }
    if (i < n) finite = finite & (math::abs(load_up_to(x + i, n - i) * factor) < bound);
    return all(finite);
  }
  Pack<T> operator()(Pack<T> x) const { return x * Pack<T>(inv_scale); }
};

template <class T, bool kWrite>
bool all_finite(const Unscale<T>& unscale, const Array& grad) {
  const TileReader reader(grad, grad.sizes());
  const TileWriter writer(grad);
  std::atomic<bool> finite = true;
  parallel_for(0, grad.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) T scratch[kTile];
    for (std::int64_t at = begin; at < end; at += kTile) {
      const std::int64_t n = std::min(kTile, end - at);
      const T* const x = reader.read(at, n, scratch);
      if (!unscale.all_finite(x, n)) finite.store(false, std::memory_order_relaxed);
      if constexpr (kWrite) {
        T* const y = writer.target(at, scratch);
        map_tile(unscale, y, &x, n, std::index_sequence<0>());
        writer.commit(at, n, y);
      }
    }
  });
  return finite;
}

template <bool kWrite>
void visit_gradients(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                     Check check) {
  for (const Array& grad : grads) {
    const auto run = [&]<class T>(T factor) {
      const bool after = check == Check::unscaled;
      const auto limit = static_cast<T>(after ? overflow_limit(grad.dtype())
                                              : std::numeric_limits<double>::infinity());
      return all_finite<T, kWrite>({factor, after ? factor : T(1), limit}, grad);
    };
    const float factor = float_in(inv_scale);
    const bool finite = grad.dtype() == DType::f64 ? run(static_cast<double>(factor)) : run(factor);
    if (!finite) float_in(found_inf) = 1;
    if constexpr (kWrite) grad.storage()->bump_version();
  }
}

}  // namespace

ScaleState::ScaleState(double init_scale, std::int32_t init_growth_tracker, Device device)
    : scale(Array::empty({}, kFloat, device)),
      inv_scale(Array::empty({}, kFloat, device)),
      growth_tracker(Array::full({}, init_growth_tracker, kInt, device)),
      bad_steps(Array::full({}, 0, kInt, device)),
      counters(Array::full({kCounters}, 0, kLong, device)) {
  store_scale(*this, static_cast<float>(init_scale));
}

void ScaleState::set_scale(const Array& value) const {
  scale.copy_(value.reshape({}));
  store_scale(*this, float_in(scale));
}

void check_finite(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                  Check check) {
  visit_gradients<false>(grads, inv_scale, found_inf, check);
}

void unscale(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
             Check check) {
  visit_gradients<true>(grads, inv_scale, found_inf, check);
}

void count_step(const ScaleState& state, const Array& found_inf) {
  ++counter(state, is_bad(found_inf) ? ScaleState::skipped_steps : ScaleState::steps);
}

void update_scale(const ScaleState& state, std::span<const Array> found_infs,
                  const amp::GradScalerOptions& options) {
  const float scale = float_in(state.scale);
  std::int32_t& tracker = int_in(state.growth_tracker);
  std::int32_t& bad_steps = int_in(state.bad_steps);
  if (std::any_of(found_infs.begin(), found_infs.end(), is_bad)) {
    tracker = 0;
    bad_steps = std::min(bad_steps + 1, options.hysteresis);
    if (bad_steps < options.hysteresis) return;
    const double lower = static_cast<double>(scale) * options.backoff_factor;
    store_scale(state, static_cast<float>(std::max(lower, options.min_scale)));
    ++counter(state, ScaleState::backoffs);
    return;
  }
  bad_steps = 0;
  if (tracker + std::int64_t{1} < options.growth_interval) {
    ++tracker;
    return;
  }
  tracker = 0;
  const double higher = static_cast<double>(scale) * options.growth_factor;
  const auto grown = static_cast<float>(std::min(higher, options.max_scale));
  if (!std::isfinite(grown) || grown <= scale) return;
  store_scale(state, grown);
  ++counter(state, ScaleState::growths);
}

}  // namespace halfgrad::detail
