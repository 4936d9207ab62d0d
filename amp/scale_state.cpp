#include <halfgrad/amp/scale_state.h>

#include <halfgrad/core/engines/elementwise.h>

namespace halfgrad::detail {
namespace {

struct Reciprocal {
  template <class T>
  HG_HD T operator()(T x) const {
    return T(1) / x;
  }
};

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
  reset_scale(Array::full({}, value.scale, kFloat, scale.device()));
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
  elementwise(Reciprocal(), DType::f64, inv_scale, scale);
  scale.storage()->bump_version();  // a loss scaled before has saved its old scale
}

void ScaleState::reset_scale(const Array& value) const {
  set_scale(value);
  next_scale.copy_(scale);
  event.fill_(static_cast<double>(amp::ScaleEvent::set));
}

}  // namespace halfgrad::detail
