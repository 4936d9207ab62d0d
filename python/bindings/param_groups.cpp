#include <halfgrad/python/bindings/param_groups.h>

namespace halfgrad::python {
namespace {

using optim::ParamGroup;

[[noreturn]] void refuse_option(const std::string& name) {
  throw nb::key_error(("expected an option of a parameter group, got \"" + name + "\"").c_str());
}

/// A tensor, or an iterable of them.
std::vector<Tensor> parameters_in(nb::handle value) {
  if (nb::isinstance<Tensor>(value)) return {nb::cast<Tensor>(value)};
  return nb::cast<std::vector<Tensor>>(nb::list(value));
}

/// Calls `visit` with the name and the member of every option.
template <class Group, class Visit>
void visit_options(Group& group, const Visit& visit) {
  visit("lr", group.lr);
  visit("momentum", group.momentum);
  visit("dampening", group.dampening);
  visit("nesterov", group.nesterov);
  visit("betas", group.betas);
  visit("eps", group.eps);
  visit("weight_decay", group.weight_decay);
  visit("amsgrad", group.amsgrad);
  visit("maximize", group.maximize);
  visit("alpha", group.alpha);
  visit("rho", group.rho);
  visit("centered", group.centered);
  visit("lr_decay", group.lr_decay);
  visit("initial_accumulator_value", group.initial_accumulator_value);
  visit("momentum_decay", group.momentum_decay);
  visit("decoupled_weight_decay", group.decoupled_weight_decay);
  visit("initial_lr", group.initial_lr);
}

}  // namespace

nb::object option_of(const ParamGroup& group, const std::string& name) {
  if (name == "params") return nb::cast(group.params);
  nb::object found;
  visit_options(group, [&](const char* known, const auto& option) {
    if (name == known && option) found = nb::cast(*option);
  });
  if (!found.is_valid()) refuse_option(name);
  return found;
}

void set_option(ParamGroup& group, const std::string& name, nb::handle value) {
  bool is_known = name == "params";
  if (is_known) group.params = parameters_in(value);
  visit_options(group, [&](const char* known, auto& option) {
    if (name != known) return;
    using Value = typename std::remove_reference_t<decltype(option)>::value_type;
    option = nb::cast<Value>(value);
    is_known = true;
  });
  if (!is_known) refuse_option(name);
}

std::vector<std::string> option_names(const ParamGroup& group) {
  std::vector<std::string> names{"params"};
  visit_options(group, [&](const char* name, const auto& option) {
    if (option) names.emplace_back(name);
  });
  return names;
}

/// A parameter, or one of the pairs that named_parameters() lists.
nb::object parameter_in(nb::handle element) {
  return PyTuple_Check(element.ptr()) != 0 ? nb::object(nb::borrow(element)[1])
                                           : nb::borrow(element);
}

std::vector<ParamGroup> groups_of(nb::handle params) {
  if (nb::isinstance<Tensor>(params)) {
    throw nb::type_error("params: expected an iterable of tensors or dicts, got a tensor");
  }
  std::vector<ParamGroup> groups;
  ParamGroup tensors;
  for (const nb::handle element : nb::borrow(params)) {
    if (!nb::isinstance<nb::dict>(element)) {
      tensors.params.push_back(nb::cast<Tensor>(parameter_in(element)));
      continue;
    }
    ParamGroup& group = groups.emplace_back();
    for (const auto [name, value] : nb::borrow<nb::dict>(element)) {
      set_option(group, nb::cast<std::string>(name), value);
    }
  }
  if (!tensors.params.empty()) groups.insert(groups.begin(), tensors);
  return groups;
}

nb::dict dict_of(const optim::ParamState& state) {
  nb::dict dict;
  for (const auto& [name, array] : state) dict[name.c_str()] = nb::cast(Tensor(array));
  return dict;
}

nb::dict dict_of(const optim::OptimizerState& state) {
  nb::dict parameters;
  for (const auto& [index, entries] : state.state) parameters[nb::int_(index)] = dict_of(entries);
  nb::list groups;
  for (const auto& group : state.param_groups) {
    nb::dict options;
    options["params"] = nb::cast(group.params);
    for (const auto& [name, value] : group.options) options[name.c_str()] = value;
    groups.append(options);
  }
  nb::dict dict;
  dict["state"] = parameters;
  dict["param_groups"] = groups;
  dict["steps"] = state.steps;
  dict["skipped_steps"] = nb::cast(
      state.skipped_steps.defined() ? OptionalTensor(Tensor(state.skipped_steps)) : std::nullopt);
  return dict;
}

optim::OptimizerState state_of(const nb::dict& dict) {
  optim::OptimizerState state;
  for (const auto [index, entries] : nb::borrow<nb::dict>(dict["state"])) {
    optim::ParamState& parameter = state.state[nb::cast<std::int64_t>(index)];
    for (const auto [name, tensor] : nb::borrow<nb::dict>(entries)) {
      parameter[nb::cast<std::string>(name)] = nb::cast<Tensor>(tensor).array();
    }
  }
  for (const nb::handle options : nb::borrow<nb::list>(dict["param_groups"])) {
    auto& group = state.param_groups.emplace_back();
    for (const auto [name, value] : nb::borrow<nb::dict>(options)) {
      const auto key = nb::cast<std::string>(name);
      if (key == "params") {
        group.params = nb::cast<std::vector<std::int64_t>>(value);
      } else {
        group.options[key] = nb::cast<double>(value);
      }
    }
  }
  if (dict.contains("steps")) state.steps = nb::cast<std::int64_t>(dict["steps"]);
  if (dict.contains("skipped_steps") && !nb::object(dict["skipped_steps"]).is_none()) {
    state.skipped_steps = nb::cast<Tensor>(dict["skipped_steps"]).array();
  }
  return state;
}

}  // namespace halfgrad::python
