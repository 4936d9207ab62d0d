#include <halfgrad/core/device_properties.h>

#include <halfgrad/core/cuda/runtime/runtime.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::cuda {

DeviceProperties get_device_properties(Device device) {
  if (!device.is_cuda() || device.index() >= device_count()) {
    detail::fail("get_device_properties", "expected a GPU of this machine, which has {}, got {}",
                 device_count(), device);
  }
  return detail::runtime::device_properties(device.index());
}

}  // namespace halfgrad::cuda
