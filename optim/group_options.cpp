#include <halfgrad/optim/group_options.h>

#include <stdexcept>

#include <halfgrad/core/parallel.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {
namespace {

struct Put {
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
          .nesterov = group.nesterov.value_or(false),
          .maximize = group.maximize.value_or(false)};
}

}  // namespace

const GroupOptions* DeviceOptions::data() const {
  if (!array_.defined()) {
    throw std::logic_error("step: expected a step as usual before a graph captures one, got none");
  }
  return array_.data_as<const GroupOptions>();
}

void DeviceOptions::send(const optim::ParamGroup& group) {
  if (group.params.empty()) return;
  const GroupOptions options = options_of(group);
  const Device device = group.params[0].device();
  const bool here = array_.defined() && array_.device() == device;
  if (here && options == sent_) return;
  if (!here) array_ = Array::empty({sizeof(GroupOptions)}, DType::u8, device);
  parallel_for_each("optimizer options", device, 1, Put{options, array_.data_as<GroupOptions>()});
  sent_ = options;
}

}  // namespace halfgrad::detail
