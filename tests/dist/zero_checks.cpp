#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>

#include "parallel_training.h"
#include "training_checks.h"

// The checks of ZeroRedundancyOptimizer.
namespace halfgrad::dist {
void check_share_of_state(Communicator& communicator) {
  const std::vector<Tensor> parameters{zeros({100, 30}).requires_grad_(),
                                       zeros({96}).requires_grad_()};
  ZeroRedundancyOptimizer zero(parameters, shared(communicator),
                               factory_of<optim::Adam>(optim::AdamArguments{}));
  set_gradients(parameters, 0, communicator.rank());
  zero.reduce_gradients();
  zero.optimizer().step();
  std::size_t bytes = 0;
  for (const Tensor& shard : zero.shards()) {
    for (const auto& [name, entry] : std::as_const(zero.optimizer()).state(shard)) {
      if (name == "step") continue;  // 4 bytes a parameter on every rank
      bytes += entry.storage()->bytes();
    }
  }
  // m and v of 3096 elements: 1, 2, 3 and 4 divide their number.
  EXPECT_EQ(bytes, 8U * 3096U / static_cast<std::size_t>(communicator.size()));
}

io::Checkpoint train_from(Communicator& communicator, const io::Checkpoint& saved,
                          const Factory& make, DType dtype) {
  const auto groups = new_groups(dtype);
  const std::vector<Tensor> parameters = parameters_of(groups);
  ZeroRedundancyOptimizer zero(groups, shared(communicator), make);
  std::optional<amp::MasterWeights> masters;
  if (dtype != kFloat) masters.emplace(zero.optimizer());
  const bool resumes = !saved.tensors.empty();
  if (resumes) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      parameters[i].array().copy_(saved.tensor("w" + std::to_string(i)).array());
    }
    read(saved, "optimizer", zero);
  }
  for (int step = resumes ? 2 : 0; step < (resumes ? 4 : 2); ++step) {
    set_gradients(parameters, step, 0);
    zero.reduce_gradients();
    zero.optimizer().step();
  }
  io::Checkpoint checkpoint;
  write(checkpoint, "optimizer", zero);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    checkpoint.write("w" + std::to_string(i), parameters[i].detach().clone());
  }
  return checkpoint;
}

std::map<std::string, std::string> bytes_of(const io::Checkpoint& checkpoint) {
  std::map<std::string, std::string> bytes;
  for (const auto& [key, tensor] : checkpoint.tensors) bytes[key] = bytes_of(tensor.array());
  return bytes;
}

}  // namespace halfgrad::dist
