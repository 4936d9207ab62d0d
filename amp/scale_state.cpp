#include <halfgrad/amp/scale_state.h>

#include <algorithm>
#include <array>
#include <vector>

#include <halfgrad/core/elementwise.h>
#include <halfgrad/core/math.h>
#include <halfgrad/core/multi_tensor.h>
#include <halfgrad/core/overflow_limit.h>
#include <halfgrad/core/rows.h>

namespace halfgrad::detail {
namespace {

struct Reciprocal {
  template <class T>
  HG_HD T operator()(T x) const {
    return T(1) / x;
  }
};

// A found_inf, as a number that is not 0 if either is not.
struct Either {
  template <class T>
  HG_HD T operator()(T a, T b) const {
    return select(a != T(0), a, b);
  }
};

float* floats(const Array& array) { return array.data_as<float>(); }

// y = x * inv_scale, finite where |x * probe| < limit.
template <bool kWrite>
struct UnscaleFormula {
  static constexpr unsigned kWrites = kWrite ? 1 : 0;

  float inv_scale;
  float probe;
  double limit;
  float* found_inf;

  template <class T>
  HG_HD void operator()(T& gradient) const {
    if (!all(math::abs(gradient * T(probe)) < T(limit))) raise_flag(found_inf);
    if constexpr (kWrite) gradient = gradient * T(inv_scale);
  }
};

template <bool kWrite>
struct Unscale {
  const float* inv_scale;
  bool check_after;
  double limit;
  float* found_inf;

  HG_HD UnscaleFormula<kWrite> make() const {
    return {*inv_scale, check_after ? *inv_scale : 1, limit, found_inf};
  }
};

template <bool kWrite>
void visit_gradients(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                     Check check) {
  const bool after = check == Check::unscaled;
  std::vector<TensorUpdate<Unscale<kWrite>, 1>> updates;
  for (const Array& grad : grads) {
    const double limit = after ? overflow_limit(grad.dtype()) : math::kInfinity;
    updates.push_back({{floats(inv_scale), after, limit, floats(found_inf)}, {&grad}});
    if constexpr (kWrite) grad.storage()->bump_version();
  }
  multi_tensor(updates);
}

// In one row of numbers, the counters of ScaleState.
struct CountStepRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> bad, Row<const T> counters, Row<T> counted) const {
    const std::int64_t which = bad(0) != T(0) ? ScaleState::skipped_steps : ScaleState::steps;
    team.once([&] {
      for (std::int64_t i = 0; i < counters.size(); ++i) {
        counted.set(i, counters(i) + (i == which ? T(1) : T(0)));
      }
    });
  }
};

// update_scale() in numbers of double precision. Rows have one element, but for the counters.
struct UpdateScaleRow {
  amp::GradScalerOptions options;

  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> bad, Row<const T> scale, Row<const T> tracker,
                        Row<const T> bad_steps, Row<const T> counters, Row<T> new_scale,
                        Row<T> inv_scale, Row<T> new_tracker, Row<T> new_bad_steps,
                        Row<T> counted) const {
    team.once([&] {
      const T before = scale(0);
      T after = before;
      T good_in_a_row = 0;
      T bad_in_a_row = 0;
      std::int64_t event = -1;
      if (bad(0) != T(0)) {
        bad_in_a_row = smaller(bad_steps(0) + T(1), T(options.hysteresis));
        if (bad_in_a_row >= T(options.hysteresis)) {
          const T lower = before * T(options.backoff_factor);
          after = in_float(lower < T(options.min_scale) ? T(options.min_scale) : lower);
          event = ScaleState::backoffs;
        }
      } else if (tracker(0) + T(1) < T(options.growth_interval)) {
        good_in_a_row = tracker(0) + T(1);
      } else {
        const T higher = in_float(smaller(before * T(options.growth_factor), T(options.max_scale)));
        if (math::isfinite(higher) && higher > before) {
          after = higher;
          event = ScaleState::growths;
        }
      }
      new_scale.set(0, after);
      inv_scale.set(0, T(1) / after);
      new_tracker.set(0, good_in_a_row);
      new_bad_steps.set(0, bad_in_a_row);
      for (std::int64_t i = 0; i < counters.size(); ++i) {
        counted.set(i, counters(i) + (i == event ? T(1) : T(0)));
      }
    });
  }

 private:
  // a if it is NaN.
  template <class T>
  HG_HD static T smaller(T a, T b) {
    return b < a ? b : a;
  }
  template <class T>
  HG_HD static T in_float(T x) {
    return static_cast<T>(static_cast<float>(x));
  }
};

Array as_row(const Array& numbers) { return numbers.reshape({1, numbers.numel()}); }

// f on rows of doubles: whole numbers are exact up to 2^53. The state may be both read and written.
template <class F, std::size_t I, std::size_t O>
void run_once(const F& f, const std::array<Array, I>& in, const std::array<Array, O>& out) {
  std::array<const Array*, I> sources;
  std::array<const Array*, O> targets;
  for (std::size_t i = 0; i < I; ++i) sources[i] = &in[i];
  for (std::size_t i = 0; i < O; ++i) targets[i] = &out[i];
  parallel_rows(f, DType::f64, 1, sources, targets);
}

// After the scale was written.
void scale_changed(const ScaleState& state) {
  state.scale.storage()->bump_version();  // a loss scaled before has its old scale saved
}

}  // namespace

ScaleState::ScaleState(double init_scale, std::int32_t init_growth_tracker, Device device)
    : scale(Array::empty({}, kFloat, device)),
      inv_scale(Array::empty({}, kFloat, device)),
      growth_tracker(Array::full({}, init_growth_tracker, kInt, device)),
      bad_steps(Array::full({}, 0, kInt, device)),
      counters(Array::full({kCounters}, 0, kLong, device)) {
  set_scale(Array::full({}, init_scale, kFloat, device));
}

void ScaleState::set_scale(const Array& value) const {
  scale.copy_(value.reshape({}));
  elementwise(Reciprocal(), DType::f64, inv_scale, scale);
  scale_changed(*this);
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
  const Array counters = as_row(state.counters);
  run_once(CountStepRow(), std::array{as_row(found_inf), counters}, std::array{counters});
}

void update_scale(const ScaleState& state, std::span<const Array> found_infs,
                  const amp::GradScalerOptions& options) {
  Array bad = found_infs[0];
  for (const Array& further : found_infs.subspan(1)) {
    const Array either = Array::empty({}, kFloat, bad.device());
    elementwise(Either(), kFloat, either, bad, further);
    bad = either;
  }
  const Array scale = as_row(state.scale);
  const Array inv_scale = as_row(state.inv_scale);
  const Array tracker = as_row(state.growth_tracker);
  const Array bad_steps = as_row(state.bad_steps);
  const Array counters = as_row(state.counters);
  run_once(UpdateScaleRow{options}, std::array{as_row(bad), scale, tracker, bad_steps, counters},
           std::array{scale, inv_scale, tracker, bad_steps, counters});
  scale_changed(state);
}

}  // namespace halfgrad::detail
