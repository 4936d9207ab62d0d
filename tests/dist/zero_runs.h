#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <halfgrad/amp/master_weights.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/dist/zero_redundancy_optimizer.h>
#include <halfgrad/optim/optim.h>

#include "shared_ranks.h"

/// Parameters and gradients for tests of ZeroRedundancyOptimizer.
namespace halfgrad::dist {

using Factory = ZeroRedundancyOptimizer::Factory;

template <class Optimizer, class Arguments>
Factory factory_of(const Arguments& arguments) {
  return [arguments](std::vector<optim::ParamGroup> groups) {
    return std::make_unique<Optimizer>(std::move(groups), arguments);
  };
}

struct NamedFactory {
  std::string name;
  Factory make;
};

inline std::vector<NamedFactory> elementwise_optimizers() {
  using namespace optim;
  return {{"SGD", factory_of<SGD>(SGDArguments{.lr = 0.1})},
          {"SGD with momentum",
           factory_of<SGD>(
               SGDArguments{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true})},
          {"Adam", factory_of<Adam>(AdamArguments{.lr = 0.1, .weight_decay = 0.01})},
          {"AdamW", factory_of<AdamW>(AdamWArguments{.lr = 0.1, .amsgrad = true})},
          {"RMSprop",
           factory_of<RMSprop>(RMSpropArguments{.lr = 0.1, .momentum = 0.5, .centered = true})},
          {"Adagrad", factory_of<Adagrad>(AdagradArguments{.lr = 0.1})},
          {"Adadelta", factory_of<Adadelta>(AdadeltaArguments{})},
          {"Adamax", factory_of<Adamax>(AdamaxArguments{.lr = 0.1})},
          {"RAdam", factory_of<RAdam>(RAdamArguments{.lr = 0.1})},
          {"NAdam", factory_of<NAdam>(NAdamArguments{.lr = 0.1})},
          {"Lion", factory_of<Lion>(LionArguments{.lr = 0.1})}};
}

/// Parameters of many sizes in two groups of different options, the same in every call.
inline std::vector<optim::ParamGroup> new_groups(DType dtype, std::uint64_t seed = 1) {
  Generator generator;
  generator.set_state({.seed = seed, .stream = 0});
  const halfgrad::detail::GeneratorScope random(generator);
  const auto parameter = [&](const Shape& sizes) {
    return randn(sizes, {.dtype = dtype}).requires_grad_();
  };
  optim::ParamGroup first{.params = {parameter({3, 5}), parameter({}), parameter({0, 2})}};
  optim::ParamGroup second{.params = {parameter({17}), parameter({1}), parameter({2, 3, 2})}};
  second.lr = 0.03;
  return {first, second};
}

inline std::vector<Tensor> parameters_of(const std::vector<optim::ParamGroup>& groups) {
  std::vector<Tensor> parameters;
  for (const optim::ParamGroup& group : groups) {
    parameters.insert(parameters.end(), group.params.begin(), group.params.end());
  }
  return parameters;
}

/// The gradient of a parameter on a rank in a step.
inline Tensor gradient_of(const Tensor& parameter, std::size_t index, int step, int rank) {
  Generator generator;
  generator.set_state({.seed = 99, .stream = index + 100 * step + 10'000 * rank});
  const halfgrad::detail::GeneratorScope random(generator);
  return randn(parameter.sizes(), {.dtype = parameter.dtype()});
}

inline void set_gradients(const std::vector<Tensor>& parameters, int step, int rank) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    parameters[i].set_grad(gradient_of(parameters[i], i, step, rank));
  }
}

/// Every rank's gradients, averaged by all_reduce().
inline void set_average_gradients(const std::vector<Tensor>& parameters, int step,
                                  Communicator& communicator) {
  set_gradients(parameters, step, communicator.rank());
  for (const Tensor& parameter : parameters) {
    communicator.all_reduce(parameter.grad().array(), ReduceOp::average).wait();
  }
}

inline std::string bytes_of(const Array& array) {
  const Array host = array.to(Device()).contiguous();
  if (host.numel() == 0) return {};
  const auto* const first = reinterpret_cast<const char*>(host.data());
  return {first, static_cast<std::size_t>(host.numel()) * item_size(host.dtype())};
}

inline std::vector<std::string> bytes_of(const std::vector<Tensor>& tensors) {
  std::vector<std::string> bytes;
  for (const Tensor& tensor : tensors) bytes.push_back(bytes_of(tensor.array()));
  return bytes;
}

inline std::map<std::string, std::string> bytes_of(const optim::OptimizerState& state) {
  std::map<std::string, std::string> bytes;
  for (const auto& [index, entries] : state.state) {
    for (const auto& [name, entry] : entries) {
      bytes[std::to_string(index) + "." + name + " " + to_string(entry.sizes())] = bytes_of(entry);
    }
  }
  for (std::size_t i = 0; i < state.param_groups.size(); ++i) {
    for (const auto& [name, value] : state.param_groups[i].options) {
      bytes["group" + std::to_string(i) + "." + name] = std::to_string(value);
    }
  }
  bytes["steps"] = std::to_string(state.steps);
  return bytes;
}

}  // namespace halfgrad::dist
