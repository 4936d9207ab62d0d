#include <halfgrad/autograd/function.h>

#include <any>
#include <utility>
#include <vector>

#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/bindings.h>

/// Differentiable functions that are defined in Python.
namespace halfgrad::python {
namespace {

using autograd::AutogradContext;
using autograd::FunctionNode;
using autograd::variable_list;

constexpr const char* kClass = "python class";
constexpr const char* kContext = "python context";

/// The `ctx` of forward and backward. The node owns it, so it refers to the node weakly.
class Context {
 public:
  Context(const std::shared_ptr<FunctionNode>& node, std::vector<bool> is_tensor)
      : node_(node), is_tensor_(std::move(is_tensor)) {}
  AutogradContext& get() const {
    if (const auto node = node_.lock()) return node->context;
    detail::fail<std::runtime_error>("ctx",
                                     "expected a function that still exists, got an old ctx");
  }
  /// For each argument of apply().
  nb::tuple needs_input_grad() const {
    nb::list needs;
    std::size_t i = 0;
    for (const bool is_tensor : is_tensor_) {
      needs.append(is_tensor && get().needs_input_grad(i++));
    }
    return nb::tuple(needs);
  }

 private:
  std::weak_ptr<FunctionNode> node_;
  std::vector<bool> is_tensor_;
};

/// `owner` is the function that gave the values, for errors.
variable_list tensors_of(nb::handle values, const char* owner) {
  variable_list tensors;
  if (PyTuple_Check(values.ptr()) == 0 && PyList_Check(values.ptr()) == 0) {
    tensors.push_back(or_undefined(read<OptionalTensor>(values, owner, "the result")));
    return tensors;
  }
  for (const nb::handle value : nb::borrow(values)) {
    tensors.push_back(or_undefined(read<OptionalTensor>(value, owner, "each value")));
  }
  return tensors;
}

PythonObject saved_object(AutogradContext* context, const char* name) {
  return std::any_cast<PythonObject>(context->saved_data.at(name));
}

variable_list call_backward(AutogradContext* context, variable_list gradients) {
  const PythonLock lock;
  const nb::object function = saved_object(context, kClass).get();
  nb::list arguments;
  arguments.append(saved_object(context, kContext).get());
  for (const Tensor& gradient : gradients) arguments.append(nb::cast(or_none(gradient)));
  gradients.clear();
  return tensors_of(function.attr("backward")(*nb::tuple(arguments)), "backward");
}

autograd::detail::Arguments arguments_of(const nb::args& inputs) {
  autograd::detail::Arguments arguments;
  for (const nb::handle input : inputs) {
    if (nb::isinstance<Tensor>(input)) {
      arguments.add(nb::cast<Tensor>(input));
    } else {
      arguments.is_tensor.push_back(false);
    }
  }
  return arguments;
}

nb::object apply(nb::handle function, const nb::args& inputs) {
  const autograd::detail::Arguments arguments = arguments_of(inputs);
  const std::string name = nb::cast<std::string>(function.attr("__name__"));
  const auto node = autograd::detail::make_function_node(name.c_str(), arguments, &call_backward);
  const nb::object context = nb::cast(Context(node, arguments.is_tensor));
  node->context.saved_data[kClass] = PythonObject(nb::borrow(function));
  node->context.saved_data[kContext] = PythonObject(context);
  nb::object result;
  {
    const NoGradGuard no_grad;
    result = function.attr("_run_forward")(context, *inputs);
  }
  variable_list outputs = tensors_of(result, "forward");
  const bool is_single = nb::isinstance<Tensor>(result);
  node->finish(arguments.tensors, outputs);
  if (is_single) return nb::cast(outputs[0]);
  nb::list list;
  for (const Tensor& output : outputs) list.append(nb::cast(or_none(output)));
  return nb::tuple(list);
}

}  // namespace

void bind_function(nb::module_& module) {
  nb::module_ autograd = nb::borrow<nb::module_>(module.attr("autograd"));
  nb::class_<Context>(autograd, "FunctionCtx", nb::dynamic_attr(),
                      "Passes tensors and other values, as attributes, from forward to backward.")
      .def(
          "save_for_backward",
          [](const Context& self, const nb::args& tensors) {
            self.get().save_for_backward(tensors_of(tensors, "save_for_backward"));
          },
          "tensors"_a, "Saves inputs or outputs of the function.")
      .def_prop_ro(
          "saved_tensors",
          [](const Context& self) {
            nb::list saved;
            for (const Tensor& tensor : self.get().get_saved_variables()) {
              saved.append(nb::cast(or_none(tensor)));
            }
            return nb::tuple(saved);
          },
          "The saved tensors. Raises RuntimeError if one was changed in place since.")
      .def(
          "mark_dirty",
          [](const Context& self, const nb::args& inputs) {
            self.get().mark_dirty(tensors_of(inputs, "mark_dirty"));
          },
          "inputs"_a, "Declares that forward changed these inputs in place.")
      .def(
          "mark_non_differentiable",
          [](const Context& self, const nb::args& outputs) {
            self.get().mark_non_differentiable(tensors_of(outputs, "mark_non_differentiable"));
          },
          "outputs"_a, "Declares that these outputs have no gradient.")
      .def(
          "set_materialize_grads",
          [](const Context& self, bool value) { self.get().set_materialize_grads(value); },
          "value"_a, "False: backward gets None for an output without a gradient, not zeros.")
      .def_prop_ro("needs_input_grad", &Context::needs_input_grad,
                   "For each argument of apply() whether it needs a gradient.");
  autograd.def("apply_function", &apply, "function"_a, "inputs"_a,
               "Runs function.forward(ctx, *inputs) and records function.backward.");
}

}  // namespace halfgrad::python
