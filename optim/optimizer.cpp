#include <halfgrad/optim/optimizer.h>

#include <tuple>
#include <unordered_set>
#include <utility>

#include <halfgrad/autograd/zero_grad.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/warning.h>
#include <halfgrad/optim/loaded_state.h>

namespace halfgrad::optim {
namespace {

template <class T>
struct Option {
  const char* name;
  std::optional<T> ParamGroup::*value;
};
template <class T>
Option(const char*, std::optional<T> ParamGroup::*) -> Option<T>;

constexpr std::tuple kOptions{
    Option{"lr", &ParamGroup::lr},
    Option{"momentum", &ParamGroup::momentum},
    Option{"dampening", &ParamGroup::dampening},
    Option{"nesterov", &ParamGroup::nesterov},
    Option{"betas", &ParamGroup::betas},
    Option{"eps", &ParamGroup::eps},
    Option{"weight_decay", &ParamGroup::weight_decay},
    Option{"amsgrad", &ParamGroup::amsgrad},
    Option{"maximize", &ParamGroup::maximize},
    Option{"alpha", &ParamGroup::alpha},
    Option{"rho", &ParamGroup::rho},
    Option{"centered", &ParamGroup::centered},
    Option{"lr_decay", &ParamGroup::lr_decay},
    Option{"initial_accumulator_value", &ParamGroup::initial_accumulator_value},
    Option{"momentum_decay", &ParamGroup::momentum_decay},
    Option{"decoupled_weight_decay", &ParamGroup::decoupled_weight_decay},
};

template <class F>
void for_each_option(const F& f) {
  std::apply([&f](const auto&... option) { (f(option), ...); }, kOptions);
}

void fill_options(const std::string& optimizer, const ParamGroup& defaults, ParamGroup& group) {
  for_each_option([&](const auto& option) {
    auto& value = group.*option.value;
    const auto& preset = defaults.*option.value;
    if (value.has_value() && !preset.has_value()) {
      detail::fail(optimizer, "expected options that it has, got {}", option.name);
    }
    if (!value.has_value()) value = preset;
  });
}

void check_leaves(const std::string& optimizer, const std::vector<Tensor>& params) {
  for (const Tensor& param : params) {
    if (!param.defined()) {
      detail::fail(optimizer, "expected parameters, got an undefined tensor");
    }
    if (!param.is_leaf()) {
      detail::fail(optimizer, "expected leaf tensors, got the result of {}", param.grad_fn_name());
    }
  }
}

using OptionMap = std::map<std::string, double>;

void write_option(OptionMap& options, const char* name, const std::optional<double>& value) {
  if (value.has_value()) options[name] = *value;
}
void write_option(OptionMap& options, const char* name, const std::optional<bool>& value) {
  if (value.has_value()) options[name] = *value ? 1 : 0;
}
void write_option(OptionMap& options, const char*,
                  const std::optional<std::pair<double, double>>& betas) {
  if (betas.has_value()) options.insert({{"beta1", betas->first}, {"beta2", betas->second}});
}

// The saved value of an option, or `otherwise` if none was saved.
double saved(const OptionMap& options, const char* name, double otherwise) {
  const auto found = options.find(name);
  return found != options.end() ? found->second : otherwise;
}
void read_option(const OptionMap& options, const char* name, std::optional<double>& value) {
  if (value.has_value()) value = saved(options, name, *value);
}
void read_option(const OptionMap& options, const char* name, std::optional<bool>& value) {
  if (value.has_value()) value = saved(options, name, *value ? 1 : 0) != 0;
}
void read_option(const OptionMap& options, const char*,
                 std::optional<std::pair<double, double>>& betas) {
  if (!betas.has_value()) return;
  betas->first = saved(options, "beta1", betas->first);
  betas->second = saved(options, "beta2", betas->second);
}

}  // namespace

Optimizer::Optimizer(std::string name, ParamGroup defaults)
    : name_(std::move(name)), preset_(std::move(defaults)) {}

void Optimizer::add_param_groups(std::vector<ParamGroup> groups) {
  if (groups.empty()) {
    detail::fail(name_, "expected at least one parameter, got an empty list");
  }
  for (ParamGroup& group : groups) add_param_group(std::move(group));
}

void Optimizer::add_params(std::vector<Tensor> params) {
  std::vector<ParamGroup> groups;
  if (!params.empty()) groups.push_back({.params = std::move(params)});
  add_param_groups(std::move(groups));
}

void Optimizer::add_param_group(ParamGroup group) {
  check_leaves(name_, group.params);
  fill_options(name_, preset_, group);
  fill_own_options(group);
  check_options(group);

  std::unordered_set<const detail::TensorImpl*> known;
  for (const Tensor& param : parameters()) known.insert(param.impl().get());
  std::unordered_set<const detail::TensorImpl*> listed;
  std::vector<Tensor> params;
  for (const Tensor& param : group.params) {
    if (known.contains(param.impl().get())) {
      detail::fail(name_,
                   "expected each parameter in one group, got parameter {} of shape {} in a second "
                   "one",
                   params.size(), param.sizes());
    }
    if (listed.insert(param.impl().get()).second) params.push_back(param);
  }
  if (params.size() < group.params.size()) {
    detail::warn(name_ + ": a parameter is listed twice in one group; kept once");
  }
  group.params = std::move(params);
  param_groups_.push_back(std::move(group));
}

void Optimizer::add_parameters(const std::vector<Tensor>& parameters) {
  ParamGroup checked;
  checked.params = parameters;
  add_param_group(std::move(checked));
  const std::vector<Tensor> added = std::move(param_groups_.back().params);
  param_groups_.pop_back();
  std::vector<Tensor>& first = param_groups_.front().params;
  first.insert(first.end(), added.begin(), added.end());
}

void Optimizer::zero_grad(bool set_to_none) {
  for (const Tensor& param : parameters()) detail::zero_grad(param, set_to_none);
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> params;
  for (const ParamGroup& group : param_groups_) {
    params.insert(params.end(), group.params.begin(), group.params.end());
  }
  return params;
}

const ParamState& Optimizer::state(const Tensor& param) const {
  static const ParamState empty;
  const auto found = states_.find(param.impl());
  return found != states_.end() ? found->second : empty;
}

OptimizerState Optimizer::state_dict() const {
  expect_no_own_options("state_dict");
  OptimizerState saved;
  saved.steps = steps_;
  if (skipped_steps_.defined()) saved.skipped_steps = skipped_steps_.clone();
  std::int64_t index = 0;
  for (const ParamGroup& group : param_groups_) {
    OptimizerState::Group& entry = saved.param_groups.emplace_back();
    for_each_option(
        [&](const auto& option) { write_option(entry.options, option.name, group.*option.value); });
    write_option(entry.options, "initial_lr", group.initial_lr);
    for (const Tensor& param : group.params) {
      for (const auto& [name, array] : state(param)) saved.state[index][name] = array.clone();
      entry.params.push_back(index++);
    }
  }
  return saved;
}

void Optimizer::load_state_dict(const OptimizerState& saved) {
  expect_no_own_options("load_state_dict");
  if (saved.param_groups.size() != param_groups_.size()) {
    detail::fail(name_, "expected a state of {} parameter groups, got {}", param_groups_.size(),
                 saved.param_groups.size());
  }
  std::vector<ParamGroup> groups = param_groups_;
  std::unordered_map<std::shared_ptr<detail::TensorImpl>, ParamState> state;
  Device device;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    ParamGroup& group = groups[i];
    const OptimizerState::Group& entry = saved.param_groups[i];
    if (entry.params.size() != group.params.size()) {
      detail::fail(name_, "expected {} parameters in group {}, got {}", group.params.size(), i,
                   entry.params.size());
    }
    for_each_option(
        [&](const auto& option) { read_option(entry.options, option.name, group.*option.value); });
    const auto initial_lr = entry.options.find("initial_lr");
    if (initial_lr != entry.options.end()) group.initial_lr = initial_lr->second;
    // Does not check the learning rate: a schedule that ends at 0 may have rounded below it.
    const std::optional<double> lr = std::exchange(group.lr, 0);
    check_options(group);
    group.lr = lr;
    const std::vector<StateEntry> entries = state_entries(group);
    for (std::size_t k = 0; k < group.params.size(); ++k) {
      const Tensor& param = group.params[k];
      device = param.device();
      const bool has_master = std::as_const(*this).state(param).contains(detail::kMaster);
      const auto found = saved.state.find(entry.params[k]);
      if (found == saved.state.end() && !has_master) continue;
      const ParamState entries_of_param = found != saved.state.end() ? found->second : ParamState();
      state[param.impl()] = detail::loaded_state(name_, entry.params[k], entries_of_param, param,
                                                 has_master, entries);
    }
  }
  Array skipped_steps;
  if (saved.skipped_steps.defined()) {
    skipped_steps = detail::loaded_scalar(name_, "skipped_steps", saved.skipped_steps).to(device);
  }
  param_groups_ = std::move(groups);
  states_ = std::move(state);
  steps_ = saved.steps;
  skipped_steps_ = std::move(skipped_steps);
  run_hooks(*load_hooks_);
}

}  // namespace halfgrad::optim
