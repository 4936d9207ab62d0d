#pragma once

#include <halfgrad/core/array.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// A StepControl in the memory of `device`: the given control's arrays if they are there, else
/// copies.
class LocalControl {
 public:
  LocalControl(Device device, const optim::StepControl& control)
      : inv_scale_(on(device, control.inv_scale)), found_inf_(on(device, control.found_inf)) {}

  optim::StepControl control() const {
    return {.inv_scale = address(inv_scale_), .found_inf = address(found_inf_)};
  }

 private:
  static Array on(Device device, const Array* array) {
    return array != nullptr ? array->to(device) : Array();
  }
  static const Array* address(const Array& array) { return array.defined() ? &array : nullptr; }

  Array inv_scale_, found_inf_;
};

}  // namespace halfgrad::detail
