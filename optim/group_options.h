#pragma once

#include <optional>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/array.h>

namespace halfgrad::optim {
struct ParamGroup;
}

namespace halfgrad::detail {

/// A group's options as kernels read them; those that the group does not have are 0.
struct GroupOptions {
  double lr, momentum, dampening, beta1, beta2, eps, weight_decay;
  bool nesterov, maximize;

  friend bool operator==(const GroupOptions&, const GroupOptions&) = default;
};

/// The devices that these lie on: as a rule one.
std::vector<Device> devices_of(const std::vector<Tensor>& params);

/// A group's options in the memory of its parameters' devices, so that a captured graph follows a
/// scheduler: its kernels know where they stand, not what they are.
class DeviceOptions {
 public:
  /// What kernels queued from now on find at data(): sent when it has changed, as the parameter of
  /// a small kernel, so that the host does not wait.
  void send(const optim::ParamGroup& group);

  /// Throws std::logic_error where send() has not been: a graph is captured before any step was.
  const GroupOptions* data(Device device) const;

 private:
  struct Copy {
    Array array;
    std::optional<GroupOptions> sent;
  };
  std::vector<Copy> copies_;  // each on another device
};

}  // namespace halfgrad::detail
