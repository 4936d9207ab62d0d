#include <halfgrad/amp/unscale.h>

#include <algorithm>
#include <vector>

#include <halfgrad/amp/unscale_formula.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/engines/multi_tensor.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/core/numbers/overflow_limit.h>

namespace halfgrad::detail {
namespace {

struct Either {
  template <class T>
  HG_HD T operator()(T a, T b) const {
    return select(a != T(0), a, b);
  }
};

float* floats(const Array& array) { return array.data_as<float>(); }

// The gradients on one device, with copies there of what their kernel reads and writes.
struct DeviceGradients {
  Device device;
  Array inv_scale;
  Array found_inf;
  Array returned;  // found_inf, copied back to the caller's device; undefined if that is this one
  std::vector<const Array*> grads{};
};

std::vector<DeviceGradients> by_device(std::span<const Array> grads, const Array& inv_scale,
                                       const Array& found_inf) {
  std::vector<DeviceGradients> parts;
  for (const Array& grad : grads) {
    const Device device = grad.device();
    auto part = std::find_if(parts.begin(), parts.end(), [device](const DeviceGradients& known) {
      return known.device == device;
    });
    if (part == parts.end()) {
      const bool here = device == found_inf.device();
      const Array flag = here ? found_inf : Array::full({}, 0, kFloat, device);
      const Array returned = here ? Array() : Array::empty({}, kFloat, found_inf.device());
      part = parts.insert(part, DeviceGradients{device, inv_scale.to(device), flag, returned});
    }
    part->grads.push_back(&grad);
  }
  return parts;
}

template <bool kWrite>
void visit_gradients(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                     Check check) {
  const bool after = check == Check::unscaled;
  for (const DeviceGradients& part : by_device(grads, inv_scale, found_inf)) {
    std::vector<TensorUpdate<Unscale<kWrite>, 1>> updates;
    for (const Array* grad : part.grads) {
      const double limit = after ? overflow_limit(grad->dtype()) : math::kInfinity;
      updates.push_back({{floats(part.inv_scale), after, limit, floats(part.found_inf)}, {grad}});
      if constexpr (kWrite) grad->storage()->bump_version();
    }
    multi_tensor(updates);
    if (!part.returned.defined()) continue;
    part.returned.copy_(part.found_inf);
    combine_found_inf(found_inf, found_inf, part.returned);
  }
}

}  // namespace

void check_finite(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
                  Check check) {
  visit_gradients<false>(grads, inv_scale, found_inf, check);
}

void unscale(std::span<const Array> grads, const Array& inv_scale, const Array& found_inf,
             Check check) {
  visit_gradients<true>(grads, inv_scale, found_inf, check);
}

void combine_found_inf(const Array& out, const Array& a, const Array& b) {
  elementwise(Either(), kFloat, out, a, b);
}

}  // namespace halfgrad::detail
