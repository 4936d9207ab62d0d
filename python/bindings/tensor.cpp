#include <algorithm>
#include <cstring>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/python/bindings/op_binder.h>

/// The class Tensor: its properties, conversions and elements.
namespace halfgrad::python {
namespace {

/// The text of halfgrad/printing.py.
nb::str text_of(nb::handle_t<Tensor> self) {
  return nb::str(nb::module_::import_("halfgrad.printing").attr("tensor_text")(self));
}

nb::object number_of(const Tensor& tensor) {
  if (tensor.is_floating_point()) return nb::float_(tensor.item());
  if (tensor.dtype() == kBool) return nb::bool_(tensor.item<bool>());
  return nb::int_(tensor.item<std::int64_t>());
}

nb::object list_of(const Tensor& tensor) {
  if (tensor.dim() == 0) return number_of(tensor);
  nb::list list;
  for (std::int64_t i = 0; i < tensor.size(0); ++i) list.append(list_of(tensor.select(0, i)));
  return list;
}

/// A 0-dimensional tensor is formatted as its number: f"{loss:.4f}".
nb::object formatted(nb::handle_t<Tensor> self, const nb::str& spec) {
  const auto& tensor = nb::cast<const Tensor&>(self);
  if (tensor.dim() != 0 && nb::len(spec) > 0) {
    throw nb::type_error("unsupported format string passed to Tensor.__format__");
  }
  const nb::object value = tensor.dim() == 0 ? number_of(tensor) : nb::object(nb::str(self));
  return nb::steal(PyObject_Format(value.ptr(), spec.ptr()));
}

bool truth_of(const Tensor& tensor) { return tensor.item() != 0; }

void bind_properties(TensorClass& tensor) {
  tensor.def(nb::init<const Tensor&>(), "data"_a, "Another name of the same tensor.")
      .def(
          "__init__",
          [](Tensor* self, const nb::args& data) {
            const bool is_list = data.size() == 1 && !nb::isinstance<nb::int_>(data[0]);
            const Shape sizes = is_list || data.size() == 0 ? Shape{0} : shape_of(data);
            new (self) Tensor(is_list ? tensor_of(data[0], get_default_dtype(), std::nullopt)
                                      : empty(sizes));
          },
          "data"_a, "The elements in the default dtype, or for integers a tensor of these sizes.")
      .def_prop_ro("shape", &Tensor::sizes, "The sizes of the dimensions, a tuple.")
      .def_prop_ro("dtype", &Tensor::dtype)
      .def_prop_ro("device", &Tensor::device)
      .def_prop_ro("ndim", &Tensor::dim)
      .def_prop_ro("is_leaf", &Tensor::is_leaf)
      .def_prop_ro("itemsize", &Tensor::element_size, "Bytes per element.")
      .def_prop_ro("nbytes", &Tensor::nbytes)
      .def_prop_ro(
          "T", [](const Tensor& self) { return self.t(); }, "The transpose of a matrix.")
      .def_prop_ro(
          "mT", [](const Tensor& self) { return self.transpose(-2, -1); },
          "The transpose of each matrix: the last two dimensions exchanged.")
      .def_prop_rw(
          "requires_grad", &Tensor::requires_grad,
          [](const Tensor& self, bool value) { self.requires_grad_(value); },
          "Whether backward() computes the gradient of this tensor.")
      .def_prop_rw(
          "grad", [](const Tensor& self) { return or_none(self.grad()); },
          [](const Tensor& self, const OptionalTensor& grad) { self.set_grad(or_undefined(grad)); },
          nb::for_setter(nb::arg("grad").none()), "The accumulated gradient, or None.")
      .def_prop_ro(
          "grad_fn",
          [](const Tensor& self) -> std::optional<std::string> {
            if (self.is_leaf()) return std::nullopt;
            return self.grad_fn_name();
          },
          "Name of the op that made this tensor; None for a leaf.")
      .def_prop_rw(
          "data", [](const Tensor& self) { return self.detach(); },
          [](const Tensor& self, const Tensor& data) {
            static_cast<void>(self.array());
            self.impl()->array = data.array();
          },
          "The same memory outside the graph. Assigning replaces the memory.")
      .def_prop_ro("is_cpu", &Tensor::is_cpu)
      .def_prop_ro("is_cuda", &Tensor::is_cuda)
      .def_prop_ro("_version", &Tensor::_version, "The number of in-place changes of the memory.");
}

void bind_queries(TensorClass& tensor) {
  tensor.def("size", &Tensor::sizes, "Returns the shape.")
      .def("size", &Tensor::size, "dim"_a, "Returns the size of one dimension.")
      .def("stride", &Tensor::strides, "Returns the strides, in elements.")
      .def("stride", &Tensor::stride, "dim"_a)
      .def("storage_offset", &Tensor::storage_offset)
      .def("dim", &Tensor::dim, "Returns the number of dimensions.")
      .def("ndimension", &Tensor::dim)
      .def("numel", &Tensor::numel, "Returns the number of elements.")
      .def("nelement", &Tensor::numel)
      .def(
          "get_device",
          [](const Tensor& self) { return self.is_cuda() ? self.device().index() : -1; },
          "Returns the index of the GPU, or -1.")
      .def("is_signed",
           [](const Tensor& self) { return self.dtype() != kBool && self.dtype() != kUInt8; })
      .def("is_complex", [](const Tensor&) { return false; })
      .def(
          "is_same_size",
          [](const Tensor& self, const Tensor& other) { return self.sizes() == other.sizes(); },
          "other"_a, "Whether both have one shape.")
      .def("element_size", &Tensor::element_size)
      .def("is_contiguous", [](const Tensor& self) { return self.is_contiguous(); })
      .def("is_floating_point", &Tensor::is_floating_point)
      .def("is_same", &Tensor::is_same, "other"_a,
           "Whether both names refer to one tensor. Different Python objects may.")
      .def(
          "data_ptr",
          [](const Tensor& self) {
            self.array().storage()->expose();
            return reinterpret_cast<std::uintptr_t>(self.array().data());
          },
          "Returns the address of the first element.");
}

void bind_elements(TensorClass& tensor) {
  tensor.def("item", &number_of, "Returns the only element as a Python number.")
      .def("tolist", &list_of, "Returns the elements as nested lists.")
      .def("__repr__", &text_of)
      .def("__format__", &formatted, "spec"_a)
      .def("__bool__", &truth_of)
      .def("__float__", [](const Tensor& self) { return self.item(); })
      .def("__int__", [](const Tensor& self) { return self.item<std::int64_t>(); })
      .def("__index__",
           [](const Tensor& self) {
             if (self.is_floating_point()) {
               throw nb::type_error("only an integer tensor of one element can be an index");
             }
             return self.item<std::int64_t>();
           })
      .def("__len__",
           [](const Tensor& self) {
             if (self.dim() == 0) throw nb::type_error("len() of a 0-dimensional tensor");
             return self.size(0);
           })
      .def("__reversed__",
           [](const Tensor& self) { return self.dim() == 0 ? self : flip(self, {0}); })
      .def("__hash__", [](const Tensor& self) {
        return static_cast<Py_ssize_t>(std::hash<const void*>()(self.impl().get()) >> 1);
      });
}

/// The elements in row-major order, as bytes.
nb::bytes bytes_of(const Tensor& self) {
  const Tensor host = self.detach().cpu().contiguous();
  return nb::bytes(reinterpret_cast<const char*>(host.array().data()), host.nbytes());
}

Tensor tensor_from(const nb::bytes& bytes, const Shape& sizes, DType dtype) {
  const Tensor made = empty(sizes, {.dtype = dtype, .device = kCPU});
  if (bytes.size() != made.nbytes()) {
    detail::fail("Tensor", "expected {} bytes for a {} of shape {}, got {}", made.nbytes(), dtype,
                 to_string(sizes), bytes.size());
  }
  if (dtype == kBool && !std::all_of(bytes.c_str(), bytes.c_str() + bytes.size(),
                                     [](char byte) { return byte == 0 || byte == 1; })) {
    detail::fail("Tensor", "expected bytes 0 and 1 for a bool tensor, got others");
  }
  std::memcpy(made.array().data(), bytes.c_str(), bytes.size());
  return made;
}

/// Pickling and copying: the functions of these names in halfgrad/serialization.py.
void bind_pickling(TensorClass& tensor) {
  const auto call = [](const char* function, nb::handle self, nb::handle argument) {
    return nb::object(
        nb::module_::import_("halfgrad.serialization").attr(function)(self, argument));
  };
  tensor.def("_to_bytes", &bytes_of)
      .def_static("_from_bytes", &tensor_from, "bytes"_a, "size"_a, "dtype"_a)
      .def(
          "__reduce_ex__",
          [call](nb::handle_t<Tensor> self, nb::handle protocol) {
            return call("reduce_tensor", self, protocol);
          },
          "protocol"_a, "Pickles elements, dtype, device and requires_grad, without the graph.")
      .def(
          "__deepcopy__",
          [call](nb::handle_t<Tensor> self, nb::handle memo) {
            return call("deepcopy_tensor", self, memo);
          },
          "memo"_a, "A copy with its grad. Raises RuntimeError for a tensor that is no leaf.");
}

void bind_graph(TensorClass& tensor) {
  tensor
      .def(
          "requires_grad_",
          [](Tensor& self, bool value) -> Tensor& { return self.requires_grad_(value); },
          "requires_grad"_a = true, nb::rv_policy::none,
          "Sets requires_grad, and returns this tensor.")
      .def("retain_grad", &Tensor::retain_grad, "Makes backward() keep this non-leaf's gradient.")
      .def("detach", &Tensor::detach, "Returns a tensor of the same memory outside the graph.")
      .def("detach_", &Tensor::detach_, nb::rv_policy::none)
      .def(
          "backward",
          [](const Tensor& self, const OptionalTensor& gradient, std::optional<bool> retain_graph,
             bool create_graph, const std::optional<std::vector<Tensor>>& inputs) {
            if (!inputs) {
              self.backward(or_undefined(gradient), retain_graph.value_or(create_graph),
                            create_graph);
              return;
            }
            if (inputs->empty()) detail::fail("backward", "expected some inputs, got {}", "none");
            autograd::backward({self}, {or_undefined(gradient)}, retain_graph, create_graph,
                               *inputs);
          },
          "gradient"_a = nb::none(), "retain_graph"_a = nb::none(), "create_graph"_a = false,
          "inputs"_a = nb::none(), ReleaseGil(),
          "Adds the gradient of this tensor with respect to every leaf that requires one to its\n"
          "grad, or to that of `inputs` only. The tensor has one element, or `gradient` has its\n"
          "shape.")
      .def(
          "register_hook",
          [](const Tensor& self, const nb::typed<nb::callable, OptionalTensor(Tensor)>& hook) {
            const auto call = function_calling<OptionalTensor, Tensor>(hook);
            return self.register_hook(
                [call](const Tensor& gradient) { return or_undefined(call(gradient)); });
          },
          "hook"_a,
          "Calls `hook` with the complete gradient during backward(). A tensor that it returns\n"
          "replaces the gradient. The result's remove() removes the hook.");
}

}  // namespace

void bind_tensor(nb::module_&, TensorClass& tensor) {
  bind_properties(tensor);
  bind_queries(tensor);
  bind_elements(tensor);
  bind_graph(tensor);
  bind_pickling(tensor);
}

}  // namespace halfgrad::python
