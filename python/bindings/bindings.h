#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/python/bindings/casters.h>
#include <halfgrad/python/bindings/python_object.h>

/// The pages of the Python module `halfgrad._halfgrad`: each function adds one part to it.
namespace halfgrad::python {

namespace nb = nanobind;
using namespace nb::literals;

using TensorClass = nb::class_<Tensor>;
using ModuleClass = nb::class_<nn::Module>;
using OptionalTensor = std::optional<Tensor>;

/// Lets other threads of Python run while the function computes.
using ReleaseGil = nb::call_guard<nb::gil_scoped_release>;

/// Python's None is an undefined tensor.
inline Tensor or_undefined(const OptionalTensor& tensor) { return tensor.value_or(Tensor()); }
inline OptionalTensor or_none(const Tensor& tensor) {
  return tensor.defined() ? OptionalTensor(tensor) : std::nullopt;
}

/// A guard that lives until end(): Python's context managers hold guards in it.
class Scope {
 public:
  template <class Guard, class... Arguments>
  static Scope of(const Arguments&... arguments) {
    Scope scope;
    scope.guard_ = std::make_shared<Guard>(arguments...);
    return scope;
  }
  void end() { guard_.reset(); }

 private:
  std::shared_ptr<void> guard_;
};

/// The elements of a nested list, a NumPy array, another tensor or any object with DLPack, copied.
Tensor tensor_of(nb::handle data, std::optional<DType> dtype, std::optional<Device> device);

/// Shares the memory of an object with DLPack.
Tensor tensor_sharing(nb::handle object, bool copy);

void bind_types(nb::module_& module);
void bind_tensor(nb::module_& module, TensorClass& tensor);
void bind_exchange(nb::module_& module, TensorClass& tensor);
void bind_indexing(nb::module_& module, TensorClass& tensor);
void bind_operators(TensorClass& tensor);
void bind_creation(nb::module_& module, TensorClass& tensor);
void bind_distributions(nb::module_& module);
void bind_unary_ops(nb::module_& module, TensorClass& tensor);
void bind_binary_ops(nb::module_& module, TensorClass& tensor);
void bind_ternary_ops(nb::module_& module, TensorClass& tensor);
void bind_reductions(nb::module_& module, TensorClass& tensor);
void bind_conversions(nb::module_& module, TensorClass& tensor);
void bind_shapes(nb::module_& module, TensorClass& tensor);
void bind_products(nb::module_& module, TensorClass& tensor);
void bind_losses(nb::module_& module);
void bind_composed_ops(nb::module_& module, TensorClass& tensor);
void bind_composed_counting(nb::module_& module, TensorClass& tensor);
void bind_composed_moving(nb::module_& module, TensorClass& tensor);
void bind_composed_pointwise(nb::module_& module, TensorClass& tensor);
void bind_composed_products(nb::module_& module, TensorClass& tensor);
void bind_composed_statistics(nb::module_& module, TensorClass& tensor);
void bind_composed_writing(nb::module_& module, TensorClass& tensor);
void bind_in_place_forms(nb::module_& module, TensorClass& tensor);
void bind_autograd(nb::module_& module, TensorClass& tensor);
void bind_function(nb::module_& module);
void bind_random(nb::module_& module);
void bind_module(nb::module_& module);
void bind_module_methods(ModuleClass& module);
void bind_layers(nb::module_& module);
void bind_activations(nb::module_& module);
void bind_attention(nb::module_& module);
void bind_init(nb::module_& module);
void bind_optimizers(nb::module_& module);
void bind_formula_optimizers(nb::module_& optim);
void bind_schedulers(nb::module_& module);
void bind_amp(nb::module_& module);
void bind_async(nb::module_& module);
void bind_inspector(nb::module_& module);
void bind_streams(nb::module_& module);
void bind_data(nb::module_& module);
void bind_report(nb::module_& module);
void bind_io(nb::module_& module);
void bind_tracing(nb::module_& module);

}  // namespace halfgrad::python
