#include <halfgrad/amp/scale_state.h>

#include <algorithm>
#include <vector>

#include <halfgrad/amp/loss_scalers/next_by_rule.h>
#include <halfgrad/amp/unscale_formula.h>
#include <halfgrad/core/elementwise.h>
#include <halfgrad/core/math.h>
#include <halfgrad/core/multi_tensor.h>
#include <halfgrad/core/overflow_limit.h>
#include <halfgrad/core/parallel.h>

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
    if constexpr (broken(Bug::verdict_discarded)) return a;
    if constexpr (broken(Bug::sum_is_one)) return a + b;
    return select(a != T(0), a, b);
  }
};

float* floats(const Array& array) { return array.data_as<float>(); }

// The gradients on one device, and what their kernel reads and writes there.
struct Place {
  Device device;
  Array inv_scale;
  Array found_inf;
  Array verdict;  // for a copy of found_inf where that is to be known; undefined if it lies there
  std::vector<const Array*> grads{};
};

std::vector<Place> by_device(std::span<const Array> grads, const Array& inv_scale,
                             const Array& found_inf) {
  std::vector<Place> places;
  for (const Array& grad : grads) {
    const Device device = grad.device();
    auto place = std::find_if(places.begin(), places.end(),
                              [device](const Place& known) { return known.device == device; });
    if (place == places.end()) {
      const bool here = device == found_inf.device();
      const Array flag = here ? found_inf : Array::full({}, 0, kFloat, device);
      const Array verdict = here ? Array() : Array::empty({}, kFloat, found_inf.device());
      place = places.insert(place, Place{device, inv_scale.to(device), flag, verdict});
    }
    place->grads.push_back(&grad);
  }
  return places;
}

template <bool kWrite>
void visit_gradients(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                     Check check) {
  const bool after = check == Check::unscaled;
  constexpr bool kStopsEarly = broken(Bug::unscale_stops_early);
  for (const Place& place : by_device(grads, inv_scale, found_inf)) {
    std::vector<TensorUpdate<Unscale<kWrite, kStopsEarly>, 1>> updates;
    for (const Array* grad : place.grads) {
      const double limit = after ? overflow_limit(grad->dtype()) : math::kInfinity;
      updates.push_back({{floats(place.inv_scale), after, limit, floats(place.found_inf)}, {grad}});
      if constexpr (kWrite) grad->storage()->bump_version();
    }
    multi_tensor(updates);
    if (!place.verdict.defined()) continue;
    place.verdict.copy_(place.found_inf);
    elementwise(Either(), kFloat, found_inf, found_inf, place.verdict);
  }
}

struct CountStep {
  const float* found_inf;
  std::int64_t* counters;

  HG_HD void operator()(std::int64_t) const {
    ++counters[*found_inf != 0 ? ScaleState::skipped_steps : ScaleState::steps];
  }
};

struct UpdateScale {
  amp::GradScalerOptions options;
  const float* found_inf;
  float* scale;
  float* next_scale;
  float* inv_scale;
  std::int32_t* growth_tracker;
  std::int32_t* bad_steps;
  std::int32_t* event;
  std::int64_t* counters;

  HG_HD void operator()(std::int64_t) const {
    const bool bad = broken(Bug::sum_is_one) ? *found_inf == 1 : *found_inf != 0;
    const amp::LossScale before{*scale, *next_scale, *growth_tracker, *bad_steps};
    const amp::ScaleUpdate update = next_loss_scale(before, bad, options);
    *scale = static_cast<float>(update.state.scale);
    *next_scale = static_cast<float>(update.state.next_scale);
    *inv_scale = static_cast<float>(1 / update.state.scale);
    *growth_tracker = update.state.good_steps;
    *bad_steps = update.state.bad_steps;
    *event = static_cast<std::int32_t>(update.event);
    if (update.event == amp::ScaleEvent::growth) ++counters[ScaleState::growths];
    if (update.event == amp::ScaleEvent::backoff) ++counters[ScaleState::backoffs];
  }
};

std::int32_t* ints(const Array& array) { return array.data_as<std::int32_t>(); }
std::int64_t* longs(const Array& array) { return array.data_as<std::int64_t>(); }

// After the scale was written.
void scale_changed(const ScaleState& state) {
  state.scale.storage()->bump_version();  // a loss scaled before has its old scale saved
}

}  // namespace

ScaleState::ScaleState(const amp::LossScale& first, Device device)
    : scale(Array::empty({}, kFloat, device)),
      next_scale(Array::empty({}, kFloat, device)),
      inv_scale(Array::empty({}, kFloat, device)),
      growth_tracker(Array::empty({}, kInt, device)),
      bad_steps(Array::empty({}, kInt, device)),
      event(Array::empty({}, kInt, device)),
      counters(Array::full({kCounters}, 0, kLong, device)) {
  set(first);
}

void ScaleState::set(const amp::LossScale& value) const {
  set_scale(Array::full({}, value.scale, kFloat, scale.device()));
  next_scale.fill_(value.next_scale);
  growth_tracker.fill_(value.good_steps);
  bad_steps.fill_(value.bad_steps);
}

amp::LossScale ScaleState::read() const {
  return {scale.item(), next_scale.item(), static_cast<std::int32_t>(growth_tracker.item()),
          static_cast<std::int32_t>(bad_steps.item())};
}

void ScaleState::set_scale(const Array& value) const {
  scale.copy_(value.reshape({}));
  next_scale.copy_(scale);
  event.fill_(static_cast<double>(amp::ScaleEvent::set));
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
  const CountStep count{floats(found_inf), longs(state.counters)};
  parallel_for_each("count_step", state.counters.device(), 1, count);
}

void update_scale(const ScaleState& state, std::span<const Array> found_infs,
                  const amp::GradScalerOptions& options) {
  Array bad = found_infs[0];
  for (const Array& further : found_infs.subspan(1)) {
    const Array either = Array::empty({}, kFloat, bad.device());
    elementwise(Either(), kFloat, either, bad, further);
    bad = either;
  }
  const UpdateScale update{options,
                           floats(bad),
                           floats(state.scale),
                           floats(state.next_scale),
                           floats(state.inv_scale),
                           ints(state.growth_tracker),
                           ints(state.bad_steps),
                           ints(state.event),
                           longs(state.counters)};
  parallel_for_each("update_scale", state.scale.device(), 1, update);
  scale_changed(state);
}

}  // namespace halfgrad::detail
