#include <halfgrad/python/bindings/param_groups.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <type_traits>

#include <halfgrad/python/bindings/edit_distance.h>

namespace halfgrad::python {
namespace {

using optim::OptimizerState;
using optim::ParamGroup;

constexpr const char* kLoad = "load_state_dict";
// The names of betas in an OptimizerState.
constexpr const char* kBeta1 = "beta1";
constexpr const char* kBeta2 = "beta2";

[[noreturn]] void refuse_option(const std::string& name) {
  throw nb::key_error(("expected an option of a parameter group, got \"" + name + "\"").c_str());
}

/// The options of a group that halfgrad does not know, which programs keep there: a dict.
nb::dict notes_of(const ParamGroup& group) {
  if (group.annotations == nullptr) return {};
  return nb::cast<nb::dict>(static_cast<const PythonObject*>(group.annotations.get())->get());
}
nb::dict notes_to_change(ParamGroup& group) {
  if (group.annotations == nullptr) {
    group.annotations = std::make_shared<PythonObject>(nb::dict());
  }
  return notes_of(group);
}

/// A tensor, or an iterable of them.
std::vector<Tensor> parameters_in(nb::handle value) {
  if (nb::isinstance<Tensor>(value)) return {nb::cast<Tensor>(value)};
  return read<std::vector<Tensor>>(nb::list(value), "param_groups", quoted("params"));
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

bool is_flag(const std::string& name) {
  const ParamGroup group;
  bool found = false;
  visit_options(group, [&](const char* known, const auto& option) {
    using Value = typename std::remove_cvref_t<decltype(option)>::value_type;
    if (name == known) found = std::is_same_v<Value, bool>;
  });
  return found;
}

/// Throws nb::key_error for a name that is nearly one of an option, such as "weigth_decay".
void expect_no_typing_error(const std::string& name) {
  constexpr std::size_t kShort = 4;  // letters of a word that is close to too many others
  if (name.size() < kShort) return;
  const ParamGroup group;
  visit_options(group, [&](const char* known, const auto&) {
    if (edit_distance(name, known) > 2) return;
    throw nb::key_error(
        ("expected an option of a parameter group, got \"" + name + "\"; is it \"" + known + "\"?")
            .c_str());
  });
}

bool is_option(const std::string& name) {
  const ParamGroup group;
  bool found = false;
  visit_options(group, [&](const char* known, const auto&) { found = found || name == known; });
  return found;
}

}  // namespace

nb::object option_of(const ParamGroup& group, const std::string& name) {
  if (name == "params") return nb::cast(group.params());
  nb::object found;
  visit_options(group, [&](const char* known, const auto& option) {
    if (name == known && option) found = nb::cast(*option);
  });
  if (const nb::dict notes = notes_of(group); !found.is_valid() && notes.contains(name.c_str())) {
    found = notes[name.c_str()];
  }
  if (!found.is_valid()) refuse_option(name);
  return found;
}

void set_option(ParamGroup& group, const std::string& name, nb::handle value) {
  bool is_known = name == "params";
  if (is_known) group.params = parameters_in(value);
  visit_options(group, [&](const char* known, auto& option) {
    if (name != known) return;
    using Value = typename std::remove_reference_t<decltype(option)>::value_type;
    option = read<Value>(value, "param_groups", quoted(name));
    is_known = true;
  });
  if (is_known) return;
  expect_no_typing_error(name);
  notes_to_change(group)[name.c_str()] = value;
}

std::vector<std::string> option_names(const ParamGroup& group) {
  std::vector<std::string> names{"params"};
  visit_options(group, [&](const char* name, const auto& option) {
    if (option) names.emplace_back(name);
  });
  for (const auto [name, value] : notes_of(group)) names.push_back(nb::cast<std::string>(name));
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
      tensors.params.push_back(read<Tensor>(parameter_in(element), "params", "each element"));
      continue;
    }
    ParamGroup& group = groups.emplace_back();
    for (const auto [name, value] : nb::borrow<nb::dict>(element)) {
      set_option(group, read<std::string>(name, "params", "an option"), value);
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

namespace {

using Options = std::map<std::string, double>;

/// PyTorch's types of the options: betas are a tuple, flags are bools.
nb::dict dict_of(const OptimizerState::Group& group) {
  nb::dict dict;
  dict["params"] = nb::cast(group.params);
  for (const auto& [name, value] : group.options) {
    if (name == kBeta1) {
      dict["betas"] = nb::make_tuple(value, group.options.at(kBeta2));
    } else if (is_flag(name)) {
      dict[name.c_str()] = value != 0;
    } else if (name != kBeta2) {
      dict[name.c_str()] = value;
    }
  }
  return dict;
}

/// Skips keys that halfgrad's groups do not have, such as PyTorch's "foreach" and "capturable".
void read_option(Options& options, const std::string& key, nb::handle value) {
  if (key == "betas") {
    const auto betas = read<std::pair<double, double>>(value, kLoad, quoted(key));
    options[kBeta1] = betas.first;
    options[kBeta2] = betas.second;
  } else if (is_option(key) || key == kBeta1 || key == kBeta2) {
    options[key] = read<double>(value, kLoad, quoted(key));
  }
}

OptimizerState::Group group_of(const nb::dict& dict) {
  OptimizerState::Group group;
  for (const auto [name, value] : dict) {
    const auto key = read<std::string>(name, kLoad, "the name of an option");
    if (key == "params") {
      group.params = read<std::vector<std::int64_t>>(value, kLoad, quoted(key));
    } else {
      read_option(group.options, key, value);
    }
  }
  return group;
}

/// A tensor, an array of another package, or a number.
Tensor tensor_in(nb::handle value, const std::string& name) {
  if (nb::isinstance<Tensor>(value)) return nb::cast<Tensor>(value);
  try {
    return tensor_of(value, std::nullopt, std::nullopt);
  } catch (const std::exception&) {
    refuse(value, kLoad, name, "a tensor or a number");
  }
}

/// Skips None, which PyTorch has for a momentum that is not used.
optim::ParamState entries_of(const nb::dict& dict, std::int64_t parameter) {
  optim::ParamState state;
  for (const auto [key, value] : dict) {
    const auto name = read<std::string>(key, kLoad, "the name of an entry");
    if (value.is_none()) continue;
    const Tensor tensor =
        tensor_in(value, quoted(name) + " of parameter " + std::to_string(parameter));
    state[name] = (name == "step" ? tensor.to(kFloat32) : tensor).array();
  }
  return state;
}

}  // namespace

nb::dict dict_of(const OptimizerState& state) {
  nb::dict parameters;
  for (const auto& [index, entries] : state.state) parameters[nb::int_(index)] = dict_of(entries);
  nb::list groups;
  for (const auto& group : state.param_groups) groups.append(dict_of(group));
  nb::dict dict;
  dict["state"] = parameters;
  dict["param_groups"] = groups;
  dict["steps"] = state.steps;
  dict["skipped_steps"] = nb::cast(
      state.skipped_steps.defined() ? OptionalTensor(Tensor(state.skipped_steps)) : std::nullopt);
  return dict;
}

void add_notes(const nb::dict& state, const std::vector<ParamGroup>& groups) {
  const auto dicts = nb::cast<nb::list>(state["param_groups"]);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    const nb::object dict = dicts[i];
    for (const auto [name, value] : notes_of(groups[i])) dict[name] = value;
  }
}

void load_notes(const nb::dict& state, std::vector<ParamGroup>& groups) {
  constexpr std::string_view kNotNotes[] = {"params",     "beta1",          "beta2", "foreach",
                                            "capturable", "differentiable", "fused"};
  const auto dicts = nb::cast<nb::list>(state["param_groups"]);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i].annotations = nullptr;
    for (const auto [key, value] : nb::cast<nb::dict>(dicts[i])) {
      const auto name = nb::cast<std::string>(key);
      const bool is_note = !is_option(name) && std::ranges::count(kNotNotes, name) == 0;
      if (is_note) notes_to_change(groups[i])[key] = value;
    }
  }
}

OptimizerState state_of(const nb::dict& dict) {
  OptimizerState state;
  for (const auto [key, entries] : read<nb::dict>(dict["state"], kLoad, quoted("state"))) {
    const auto index = read<std::int64_t>(key, kLoad, "the number of a parameter");
    state.state[index] = entries_of(
        read<nb::dict>(entries, kLoad, "the state of parameter " + std::to_string(index)), index);
  }
  const auto groups = read<nb::list>(dict["param_groups"], kLoad, quoted("param_groups"));
  for (const nb::handle group : groups) {
    state.param_groups.push_back(group_of(read<nb::dict>(group, kLoad, "a parameter group")));
  }
  if (dict.contains("steps")) {
    state.steps = read<std::int64_t>(dict["steps"], kLoad, quoted("steps"));
  }
  if (dict.contains("skipped_steps") && !nb::object(dict["skipped_steps"]).is_none()) {
    state.skipped_steps = tensor_in(dict["skipped_steps"], quoted("skipped_steps")).array();
  }
  return state;
}

}  // namespace halfgrad::python
