#include <halfgrad/optim/optim.h>

#include <algorithm>
#include <utility>

#include <halfgrad/python/bindings/param_groups.h>

/// Optimizers.
namespace halfgrad::python {
namespace {

using optim::Optimizer;
using optim::ParamGroup;
using OptimizerClass = nb::class_<Optimizer>;

bool has_option(const ParamGroup& group, const std::string& name) {
  const auto names = option_names(group);
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A group as a mapping, `group["lr"] = 0.1`. It refers to the optimizer by its position there,
/// which stays valid when groups are added.
struct GroupView {
  nb::object optimizer;
  std::size_t index;
  ParamGroup& group() const { return nb::cast<Optimizer&>(optimizer).param_groups().at(index); }
};

void bind_groups(nb::module_& optim) {
  nb::class_<GroupView>(optim, "ParamGroup", "Options of some parameters: group[\"lr\"] = 0.1.")
      .def(
          "__getitem__",
          [](const GroupView& self, const std::string& name) {
            return option_of(self.group(), name);
          },
          "option"_a)
      .def(
          "__setitem__",
          [](const GroupView& self, const std::string& name, nb::handle value) {
            set_option(self.group(), name, value);
          },
          "option"_a, "value"_a)
      .def("keys", [](const GroupView& self) { return option_names(self.group()); })
      .def(
          "update",
          [](const GroupView& self, const std::optional<nb::dict>& options,
             const nb::kwargs& more) {
            for (const nb::dict& source : {options.value_or(nb::dict()), nb::dict(more)}) {
              for (const auto [name, value] : source) {
                set_option(self.group(), read<std::string>(name, "update", "an option"), value);
              }
            }
          },
          "options"_a = nb::none(), "more"_a, "Sets several options.")
      .def(
          "setdefault",
          [](const GroupView& self, const std::string& name, const nb::object& value) {
            if (!has_option(self.group(), name)) set_option(self.group(), name, value);
            return option_of(self.group(), name);
          },
          "option"_a, "default"_a, "Sets an option unless it is set, and returns it.")
      .def("values",
           [](const GroupView& self) {
             nb::list values;
             for (const auto& name : option_names(self.group())) {
               values.append(option_of(self.group(), name));
             }
             return values;
           })
      .def("items",
           [](const GroupView& self) {
             nb::list items;
             for (const auto& name : option_names(self.group())) {
               items.append(nb::make_tuple(name, option_of(self.group(), name)));
             }
             return items;
           })
      .def(
          "get",
          [](const GroupView& self, const std::string& name, const nb::object& other) {
            return has_option(self.group(), name) ? option_of(self.group(), name) : other;
          },
          "option"_a, "default"_a = nb::none())
      .def("__iter__",
           [](const GroupView& self) { return nb::iter(nb::cast(option_names(self.group()))); })
      .def("__len__", [](const GroupView& self) { return option_names(self.group()).size(); })
      .def("__contains__", [](const GroupView& self, const std::string& name) {
        return has_option(self.group(), name);
      });
}

/// The mapping `optimizer.state[parameter]`.
struct StateView {
  nb::object optimizer;
  nb::dict of(const Tensor& parameter) const {
    return dict_of(std::as_const(nb::cast<Optimizer&>(optimizer)).state(parameter));
  }
  std::vector<Tensor> parameters() const {
    std::vector<Tensor> with_state;
    for (const Tensor& parameter : nb::cast<Optimizer&>(optimizer).parameters()) {
      if (of(parameter).size() > 0) with_state.push_back(parameter);
    }
    return with_state;
  }
};

void bind_states(nb::module_& optim) {
  nb::class_<StateView>(optim, "OptimizerStates", "Moments by parameter: state[p][\"step\"].")
      .def("__getitem__", &StateView::of, "parameter"_a,
           "The moments of a parameter, by name; empty before its first update.")
      .def("__contains__", [](const StateView& self,
                              const Tensor& parameter) { return self.of(parameter).size() > 0; })
      .def("__len__", [](const StateView& self) { return self.parameters().size(); })
      .def("keys", &StateView::parameters)
      .def("values",
           [](const StateView& self) {
             nb::list values;
             for (const Tensor& parameter : self.parameters()) values.append(self.of(parameter));
             return values;
           })
      .def("items",
           [](const StateView& self) {
             nb::list items;
             for (const Tensor& parameter : self.parameters()) {
               items.append(nb::make_tuple(parameter, self.of(parameter)));
             }
             return items;
           })
      .def("__iter__", [](const StateView& self) { return nb::iter(nb::cast(self.parameters())); });
}

void bind_state(OptimizerClass& optimizer) {
  optimizer
      .def_prop_ro(
          "param_groups",
          [](nb::handle_t<Optimizer> self) {
            const std::size_t count = nb::cast<Optimizer&>(self).param_groups().size();
            nb::list groups;
            for (std::size_t i = 0; i < count; ++i) {
              groups.append(nb::cast(GroupView{nb::borrow(self), i}));
            }
            return groups;
          },
          "The parameter groups, a list of mappings.")
      .def(
          "add_param_group",
          [](Optimizer& self, const nb::dict& group) {
            nb::list groups;
            groups.append(group);
            self.add_param_group(groups_of(groups).at(0));
          },
          "param_group"_a)
      .def_prop_ro(
          "state", [](nb::handle_t<Optimizer> self) { return StateView{nb::borrow(self)}; },
          "The moments by parameter: state[parameter][\"step\"].")
      .def(
          "state_dict",
          [](const Optimizer& self) {
            const nb::dict state = dict_of(self.state_dict());
            add_notes(state, self.param_groups());
            return state;
          },
          "A copy of the whole state, in PyTorch's layout.")
      .def(
          "load_state_dict",
          [](Optimizer& self, const nb::dict& state) {
            self.load_state_dict(state_of(state));
            load_notes(state, self.param_groups());
          },
          "state_dict"_a);
}

/// The loss that a closure computes: a tensor, or a number.
std::function<Tensor()> loss_of(const nb::callable& closure) {
  return [object = PythonObject(closure)] {
    const PythonLock lock;
    const nb::object loss = object.get()();
    if (nb::isinstance<Tensor>(loss)) return nb::cast<Tensor>(loss);
    return loss.is_none() ? Tensor() : tensor_of(loss, std::nullopt, std::nullopt);
  };
}

/// Calls hook(optimizer, args, kwargs) as PyTorch does, with empty arguments, or hook(optimizer)
/// if it takes no more.
auto step_hook(const nb::callable& hook) {
  const nb::module_ hooks = nb::module_::import_("halfgrad.hooks");
  const auto call = function_calling<void, Optimizer*>(
      nb::borrow<nb::callable>(hooks.attr("of_optimizer")(hook)));
  return [call](Optimizer& optimizer) { call(&optimizer); };
}

/// The options of every group, in alphabetic order.
std::string text_of(const Optimizer& optimizer) {
  std::string text = optimizer.name() + " (";
  for (std::size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    const ParamGroup& group = optimizer.param_groups()[i];
    text += "\nParameter Group " + std::to_string(i) + "\n";
    std::vector<std::string> names = option_names(group);
    std::erase(names, "params");
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      text += "    " + name + ": " + nb::str(option_of(group, name)).c_str() + "\n";
    }
  }
  return text + ")";
}

void bind_optimizer(nb::module_& optim) {
  OptimizerClass optimizer(optim, "Optimizer", nb::is_weak_referenceable(),
                           "Updates parameters in place from their gradients.");
  optimizer
      .def(
          "step",
          [](Optimizer& self, const std::optional<nb::callable>& closure) {
            const std::function<Tensor()> call =
                closure ? loss_of(*closure) : std::function<Tensor()>();
            const nb::gil_scoped_release release;
            const Tensor loss = self.step(call);
            return loss.defined() ? OptionalTensor(loss) : std::nullopt;
          },
          "closure"_a = nb::none(),
          "Makes one update. Calls `closure` first, if given, and returns its loss.")
      .def("zero_grad", &Optimizer::zero_grad, "set_to_none"_a = true, ReleaseGil(),
           "Drops the gradients, or overwrites them with zeros.")
      .def("set_late_updates", &Optimizer::set_late_updates, "enabled"_a = true,
           "min_elements"_a = std::int64_t{1} << 20, ReleaseGil(),
           "Lets step() on a GPU return before large parameters are updated. A second stream\n"
           "updates them, in launches of at least `min_elements` elements, and their next use\n"
           "waits for it. The bits are the same. Does nothing on the CPU.")
      .def_prop_ro("has_late_updates", &Optimizer::has_late_updates)
      .def("parameters", &Optimizer::parameters)
      .def_prop_ro("steps", &Optimizer::steps, "The number of calls of step().")
      .def_prop_ro("name", &Optimizer::name)
      .def(
          "register_step_pre_hook",
          [](Optimizer& self, const nb::callable& hook) {
            return self.register_step_pre_hook(step_hook(hook));
          },
          "hook"_a, "Calls hook(optimizer, args, kwargs), or hook(optimizer), before each step.")
      .def(
          "register_step_post_hook",
          [](Optimizer& self, const nb::callable& hook) {
            return self.register_step_post_hook(step_hook(hook));
          },
          "hook"_a, "Calls hook(optimizer, args, kwargs), or hook(optimizer), after each step.")
      .def("__repr__", &text_of);
  bind_state(optimizer);
}

void bind_sgd(nb::module_& optim) {
  nb::class_<optim::SGD, Optimizer>(optim, "SGD", "Stochastic gradient descent with momentum.")
      .def(
          "__init__",
          [](optim::SGD* self, nb::handle params, double lr, double momentum, double dampening,
             double weight_decay, bool nesterov, bool maximize, Ignored, Ignored) {
            new (self) optim::SGD(
                groups_of(params),
                optim::SGDArguments{lr, momentum, dampening, weight_decay, nesterov, maximize});
          },
          "params"_a, "lr"_a = 1e-3, "momentum"_a = 0.0, "dampening"_a = 0.0,
          "weight_decay"_a = 0.0, "nesterov"_a = false, nb::kw_only(), "maximize"_a = false,
          implementation("foreach"), implementation("fused"));
}

template <class Adam, class Options, class Base>
void bind_adam(nb::module_& optim, const char* name, double weight_decay, const char* doc) {
  nb::class_<Adam, Base>(optim, name, doc)
      .def(
          "__init__",
          [](Adam* self, nb::handle params, double lr, std::pair<double, double> betas, double eps,
             double decay, bool amsgrad, bool maximize, Ignored, Ignored, Ignored) {
            new (self) Adam(groups_of(params), Options{lr, betas, eps, decay, amsgrad, maximize});
          },
          "params"_a, "lr"_a = 1e-3, "betas"_a = std::pair(0.9, 0.999), "eps"_a = 1e-8,
          "weight_decay"_a = weight_decay, "amsgrad"_a = false, nb::kw_only(), "maximize"_a = false,
          implementation("foreach"), implementation("fused"), implementation("capturable"));
}

}  // namespace

void bind_optimizers(nb::module_& module) {
  nb::module_ optim = module.def_submodule("optim", "Optimizers and schedules.");
  bind_groups(optim);
  bind_states(optim);
  bind_optimizer(optim);
  bind_sgd(optim);
  bind_adam<optim::Adam, optim::AdamArguments, Optimizer>(optim, "Adam", 0,
                                                          "Adam (Kingma and Ba 2015).");
  bind_adam<optim::AdamW, optim::AdamWArguments, optim::Adam>(
      optim, "AdamW", 1e-2, "Adam with decoupled weight decay (Loshchilov and Hutter 2019).");
  bind_formula_optimizers(optim);
}

}  // namespace halfgrad::python
