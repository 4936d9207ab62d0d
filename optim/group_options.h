#pragma once

#include <optional>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/array.h>

namespace halfgrad::optim {
struct ParamGroup;
}

namespace halfgrad::detail {

/// A group's options as kernels read them. Options that the group does not have are 0.
struct GroupOptions {
  double lr, momentum, dampening, beta1, beta2, eps, weight_decay;
  double alpha, rho, lr_decay, momentum_decay;
  bool nesterov, maximize, decoupled_weight_decay;

  friend bool operator==(const GroupOptions&, const GroupOptions&) = default;
};

/// The devices of the parameters, each once; usually there is one.
std::vector<Device> devices_of(const std::vector<Tensor>& params);

/// A group's options in the memory of its parameters' devices. Kernels take their address, so a
/// captured graph follows a scheduler that changes the values.
class DeviceOptions {
 public:
  /// Writes the group's options to data(), for the kernels that are queued from now on. Options
  /// that have changed travel as the parameter of a small kernel, so the host does not wait.
  void send(const optim::ParamGroup& group);

  /// Throws std::logic_error before the first send(), as when a graph is captured before any step.
  const GroupOptions* data(Device device) const {
    return array(device).data_as<const GroupOptions>();
  }
  /// The array that data() points to.
  const Array& array(Device device) const;

 private:
  struct Copy {
    Array array;
    std::optional<GroupOptions> sent;
  };
  std::vector<Copy> copies_;  // one for each device
};

}  // namespace halfgrad::detail
