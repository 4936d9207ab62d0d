#include <exception>
#include <stdexcept>
#include <string>

#include <halfgrad/python/bindings/bindings.h>
#include <halfgrad/python/bindings/check.h>
#include <halfgrad/python/bindings/report.h>

namespace {

/// Everything but the submodules: halfgrad has packages of these names.
nanobind::list public_names(const nanobind::module_& module) {
  nanobind::list names;
  const nanobind::object members = module.attr("__dict__");
  for (const auto [name, value] : nanobind::borrow<nanobind::dict>(members)) {
    const auto text = nanobind::cast<std::string>(name);
    if (text.front() != '_' && !nanobind::isinstance<nanobind::module_>(value)) names.append(name);
  }
  return names;
}

/// The exception of invalid arguments. PyTorch raises RuntimeError for most of them, and programs
/// catch that; Python's own name is ValueError. It is both.
nanobind::object argument_error() {
  const auto bases = nanobind::make_tuple(nanobind::handle(PyExc_ValueError),
                                          nanobind::handle(PyExc_RuntimeError));
  return nanobind::steal(PyErr_NewExceptionWithDoc(
      "halfgrad._halfgrad.ArgumentError",
      "An argument that an op or a class cannot take. It is a ValueError, and also a\n"
      "RuntimeError, which PyTorch raises.",
      bases.ptr(), nullptr));
}

void raise_argument_error(const std::exception_ptr& error, void* type) {
  try {
    std::rethrow_exception(error);
  } catch (const std::invalid_argument& invalid) {
    PyErr_SetString(static_cast<PyObject*>(type), invalid.what());
  }
}

}  // namespace

NB_MODULE(_halfgrad, module) {
  namespace python = halfgrad::python;
  module.doc() = "halfgrad's C++ library. Import halfgrad, which has the same names.";
  python::DroppedAtExit::begin(module);
  module.attr("ArgumentError") = argument_error();
  nanobind::register_exception_translator(&raise_argument_error,
                                          nanobind::object(module.attr("ArgumentError")).ptr());
  python::bind_types(module);
  python::TensorClass tensor(
      module, "Tensor",
      "An n-dimensional array with a gradient. Names and semantics are PyTorch's. Ops are methods\n"
      "of a Tensor and functions of the module.",
      nanobind::is_weak_referenceable());
  python::bind_tensor(module, tensor);
  python::bind_exchange(module, tensor);
  python::bind_random(module);
  python::bind_indexing(module, tensor);
  python::bind_operators(tensor);
  python::bind_creation(module, tensor);
  python::bind_distributions(module);
  python::bind_conversions(module, tensor);
  python::bind_unary_ops(module, tensor);
  python::bind_binary_ops(module, tensor);
  python::bind_ternary_ops(module, tensor);
  python::bind_reductions(module, tensor);
  python::bind_shapes(module, tensor);
  python::bind_products(module, tensor);
  python::bind_losses(module);
  python::bind_composed_ops(module, tensor);
  python::bind_composed_counting(module, tensor);
  python::bind_composed_moving(module, tensor);
  python::bind_composed_pointwise(module, tensor);
  python::bind_composed_products(module, tensor);
  python::bind_composed_statistics(module, tensor);
  python::bind_composed_writing(module, tensor);
  python::bind_in_place_forms(module, tensor);
  python::bind_autograd(module, tensor);
  python::bind_function(module);
  python::bind_module(module);
  python::bind_layers(module);
  python::bind_activations(module);
  python::bind_attention(module);
  python::bind_init(module);
  python::bind_optimizers(module);
  python::bind_schedulers(module);
  python::bind_amp(module);
  python::bind_async(module);
  python::bind_inspector(module);
  python::bind_streams(module);
  python::bind_data(module);
  python::bind_io(module);
  python::bind_report(module);
  python::bind_tracing(module);
  python::bind_check(module);
  python::bind_formula(module);
  module.attr("__all__") = public_names(module);
}
