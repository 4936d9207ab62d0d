#include <halfgrad/optim/group_options.h>

#include <algorithm>
#include <stdexcept>

#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {
namespace {

struct StoreOptions {
  GroupOptions value;
  GroupOptions* target;

  HG_HD void operator()(std::int64_t) const { *target = value; }
};

GroupOptions options_of(const optim::ParamGroup& group) {
  const auto [beta1, beta2] = group.betas.value_or(std::pair(0.0, 0.0));
  return {.lr = group.lr.value_or(0),
          .momentum = group.momentum.value_or(0),
          .dampening = group.dampening.value_or(0),
          .beta1 = beta1,
          .beta2 = beta2,
          .eps = group.eps.value_or(0),
          .weight_decay = group.weight_decay.value_or(0),
          .alpha = group.alpha.value_or(0),
          .rho = group.rho.value_or(0),
          .lr_decay = group.lr_decay.value_or(0),
          .momentum_decay = group.momentum_decay.value_or(0),
          .nesterov = group.nesterov.value_or(false),
          .maximize = group.maximize.value_or(false),
          .decoupled_weight_decay = group.decoupled_weight_decay.value_or(false)};
}

}  // namespace

std::vector<Device> devices_of(const std::vector<Tensor>& params) {
  std::vector<Device> devices;
  for (const Tensor& param : params) {
    const Device device = param.device();
    if (std::find(devices.begin(), devices.end(), device) == devices.end()) {
      devices.push_back(device);
    }
  }
  return devices;
}

const Array& DeviceOptions::array(Device device) const {
  for (const Copy& copy : copies_) {
    if (copy.array.device() == device) return copy.array;
  }
  fail<std::logic_error>("step", "expected an ordinary step before a graph captures one, got none");
}

void DeviceOptions::send(const optim::ParamGroup& group) {
  const GroupOptions options = options_of(group);
  for (const Device device : devices_of(group.params)) {
    auto copy = std::find_if(copies_.begin(), copies_.end(), [device](const Copy& known) {
      return known.array.device() == device;
    });
    if (copy == copies_.end()) {
      const Array array = Array::empty({sizeof(GroupOptions)}, DType::u8, device);
      copy = copies_.insert(copy, Copy{array, std::nullopt});
    }
    if (copy->sent == options) continue;
    auto* const target = copy->array.data_as<GroupOptions>();
    parallel_for_each("optimizer options", device, 1, StoreOptions{options, target});
    copy->sent = options;
  }
}

}  // namespace halfgrad::detail
