#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/optim/optim.h>

/// Optimizers by the names and options of the files of expected values.
namespace halfgrad::testing {

inline optim::ParamGroup options_from(const nlohmann::json& options) {
  optim::ParamGroup group;
  const auto read = [&options](const char* name, auto& value) {
    if (options.contains(name)) value = options[name];
  };
  read("lr", group.lr);
  read("momentum", group.momentum);
  read("dampening", group.dampening);
  read("nesterov", group.nesterov);
  read("eps", group.eps);
  read("weight_decay", group.weight_decay);
  read("amsgrad", group.amsgrad);
  read("maximize", group.maximize);
  read("alpha", group.alpha);
  read("rho", group.rho);
  read("centered", group.centered);
  read("lr_decay", group.lr_decay);
  read("initial_accumulator_value", group.initial_accumulator_value);
  read("momentum_decay", group.momentum_decay);
  read("decoupled_weight_decay", group.decoupled_weight_decay);
  if (options.contains("betas")) group.betas = {options["betas"][0], options["betas"][1]};
  return group;
}

inline std::unique_ptr<optim::Optimizer> named_optimizer(const std::string& name,
                                                         optim::ParamGroup group) {
  const std::vector<optim::ParamGroup> groups{std::move(group)};
  if (name == "sgd") return std::make_unique<optim::SGD>(groups);
  if (name == "adam") return std::make_unique<optim::Adam>(groups);
  if (name == "adamw") return std::make_unique<optim::AdamW>(groups);
  if (name == "rmsprop") return std::make_unique<optim::RMSprop>(groups);
  if (name == "adagrad") return std::make_unique<optim::Adagrad>(groups);
  if (name == "adadelta") return std::make_unique<optim::Adadelta>(groups);
  if (name == "adamax") return std::make_unique<optim::Adamax>(groups);
  if (name == "radam") return std::make_unique<optim::RAdam>(groups);
  if (name == "nadam") return std::make_unique<optim::NAdam>(groups);
  if (name == "lamb") return std::make_unique<optim::LAMB>(groups);
  if (name == "lion") return std::make_unique<optim::Lion>(groups);
  throw std::logic_error("no optimizer is called " + name);
}

}  // namespace halfgrad::testing
