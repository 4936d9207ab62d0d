#include <charconv>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/files/format_error.h>
#include <halfgrad/io/checkpoint.h>

namespace halfgrad::io {
namespace {

constexpr const char* kParameter = "parameter";
constexpr const char* kGradient = "gradient";
constexpr const char* kGradientScale = "gradient_scale";
constexpr const char* kSteps = "steps";
constexpr const char* kSkippedSteps = "skipped_steps";

std::string group_prefix(const std::string& name, std::size_t index) {
  return name + "/group" + std::to_string(index) + ".";
}

void write_state(Checkpoint& to, const std::string& name, const optim::OptimizerState& saved) {
  to.erase(name);
  for (std::size_t i = 0; i < saved.param_groups.size(); ++i) {
    const auto& [params, options] = saved.param_groups[i];
    to.write(group_prefix(name, i) + "params", halfgrad::tensor(params));
    for (const auto& [option, value] : options) to.write(group_prefix(name, i) + option, value);
  }
  for (const auto& [index, state] : saved.state) {
    for (const auto& [key, array] : state) {
      to.write(name + "/" + std::to_string(index) + "." + key, Tensor(array));
    }
  }
  to.write(name + "/" + kSteps, saved.steps);
  if (saved.skipped_steps.defined()) {
    to.write(name + "/" + kSkippedSteps, Tensor(saved.skipped_steps));
  }
}

optim::OptimizerState read_state(const Checkpoint& from, const std::string& name) {
  optim::OptimizerState saved;
  while (from.tensors.contains(group_prefix(name, saved.param_groups.size()) + "params")) {
    saved.param_groups.emplace_back();
  }
  for (const auto& [key, tensor] : from.part(name)) {
    if (key == kGradientScale || key == kSteps || key == kSkippedSteps) continue;
    const std::size_t dot = key.find('.');
    const bool is_option = key.starts_with("group");
    const char* const digits = key.data() + (is_option ? 5 : 0);
    std::size_t index = 0;
    const auto end = std::from_chars(digits, key.data() + key.size(), index);
    if (dot == key.npos || end.ec != std::errc() || end.ptr != key.data() + dot ||
        (is_option && index >= saved.param_groups.size())) {
      halfgrad::detail::fail(
          "Checkpoint",
          "expected the state of an optimizer with {} parameter groups, got \"{}/{}\"",
          saved.param_groups.size(), name, files::cut(key));
    }
    const std::string field = key.substr(dot + 1);
    if (!is_option) {
      saved.state[static_cast<std::int64_t>(index)][field] = tensor.array();
    } else if (field == "params") {
      saved.param_groups[index].params = from.integers(name + "/" + key);
    } else {
      saved.param_groups[index].options[field] = from.number(name + "/" + key);
    }
  }
  saved.steps = from.integer(name + "/" + kSteps);
  const std::string skipped = name + "/" + kSkippedSteps;
  if (from.tensors.contains(skipped)) {
    saved.skipped_steps = Array::full({}, static_cast<double>(from.integer(skipped)), DType::i64);
  }
  return saved;
}

/// Removes an array from a parameter's state and returns it; returns an undefined one if absent.
Array take(optim::ParamState& state, const char* key) {
  const auto taken = state.extract(key);
  return taken.empty() ? Array() : taken.mapped();
}

}  // namespace

void Checkpoint::write(const std::string& name, const optim::Optimizer& optimizer) {
  write(name, optimizer.name(), optimizer.state_dict());
}

void Checkpoint::write(const std::string& name, const std::string& optimizer,
                       const optim::OptimizerState& state) {
  write_text(name, optimizer);
  write_state(*this, name, state);
}

optim::OptimizerState Checkpoint::optimizer_state(const std::string& name) const {
  return read_state(*this, name);
}

void Checkpoint::read(const std::string& name, optim::Optimizer& optimizer) const {
  require_text(name, optimizer.name());
  optimizer.load_state_dict(read_state(*this, name));
}

void Checkpoint::write(const std::string& name, optim::AsyncOptimizer& optimizer) {
  optim::AsyncOptimizerState saved = optimizer.state_dict();
  for (std::size_t i = 0; i < saved.parameters.size(); ++i) {
    optim::ParamState& state = saved.optimizer.state[static_cast<std::int64_t>(i)];
    state[kParameter] = saved.parameters[i];
    if (saved.gradients[i].defined()) state[kGradient] = saved.gradients[i];
  }
  write_text(name, "asynchronous " + optimizer.name());
  write_state(*this, name, saved.optimizer);
  write(name + "/" + kGradientScale, saved.gradient_scale);
}

void Checkpoint::read(const std::string& name, optim::AsyncOptimizer& optimizer) const {
  require_text(name, "asynchronous " + optimizer.name());
  optim::AsyncOptimizerState saved{read_state(*this, name), {}};
  for (auto& [index, state] : saved.optimizer.state) {
    const Array parameter = take(state, kParameter);
    if (!parameter.defined() || index != std::ssize(saved.parameters)) {
      halfgrad::detail::fail("Checkpoint", "expected \"{}/{}.{}\", got none", name,
                             saved.parameters.size(), kParameter);
    }
    saved.parameters.push_back(parameter);
    saved.gradients.push_back(take(state, kGradient));
  }
  saved.gradient_scale = number(name + "/" + kGradientScale);
  optimizer.load_state_dict(saved);
}

}  // namespace halfgrad::io
