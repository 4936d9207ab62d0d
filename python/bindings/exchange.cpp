#include <memory>

#include <nanobind/ndarray.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/io/dlpack.h>
#include <halfgrad/python/bindings/bindings.h>

/// Tensors and the arrays of other packages: DLPack, Python's buffers, NumPy.
namespace halfgrad::python {
namespace {

namespace dlpack = io::dlpack;

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kLegacy = "dltensor";

/// Releases the tensor of a capsule that nobody took; a receiver renames the capsule.
template <class Managed>
void release_unused(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

nb::object versioned_capsule(const Tensor& tensor) {
  return nb::steal(PyCapsule_New(io::to_dlpack(tensor), kVersioned, [](PyObject* capsule) {
    release_unused<dlpack::ManagedTensorVersioned>(capsule, kVersioned);
  }));
}

/// The structure before DLPack 1.0, for receivers that do not ask for a newer one.
nb::object legacy_capsule(const Tensor& tensor) {
  dlpack::ManagedTensorVersioned* const inner = io::to_dlpack(tensor);
  auto* const managed = new dlpack::ManagedTensor{
      .dl_tensor = inner->dl_tensor,
      .manager_ctx = inner,
      .deleter = [](dlpack::ManagedTensor* self) {
        auto* const held = static_cast<dlpack::ManagedTensorVersioned*>(self->manager_ctx);
        held->deleter(held);
        delete self;
      }};
  return nb::steal(PyCapsule_New(managed, kLegacy, [](PyObject* capsule) {
    release_unused<dlpack::ManagedTensor>(capsule, kLegacy);
  }));
}

/// The result's work is complete before this returns, so `stream` does not matter.
nb::object export_dlpack(const Tensor& self, nb::handle /*stream*/,
                         std::optional<std::pair<int, int>> max_version, nb::handle dl_device,
                         std::optional<bool> copy) {
  if (!dl_device.is_none() &&
      !dl_device.equal(self.device().is_cpu() ? nb::make_tuple(1, 0)
                                              : nb::make_tuple(2, self.device().index()))) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__: expected the tensor's own device");
    throw nb::python_error();
  }
  const Tensor exported = copy.value_or(false) ? self.clone() : self;
  if (self.is_cuda()) current_stream(self.device()).synchronize();
  const bool is_versioned = max_version && max_version->first >= 1;
  return is_versioned ? versioned_capsule(exported) : legacy_capsule(exported);
}

template <class Managed>
Tensor take(nb::handle capsule, const char* name, const char* used_name, bool copy) {
  auto* const managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule.ptr(), name));
  PyCapsule_SetName(capsule.ptr(), used_name);
  return io::from_dlpack(managed, {.copy = copy});
}

nb::object capsule_of(nb::handle object) {
  if (PyCapsule_CheckExact(object.ptr())) return nb::borrow(object);
  if (!nb::hasattr(object, "__dlpack__")) {
    const std::string type = nb::cast<std::string>(object.type().attr("__name__"));
    throw nb::type_error(
        ("from_dlpack: expected an object with __dlpack__, got one of type " + type).c_str());
  }
  const nb::object method = object.attr("__dlpack__");
  try {
    return method("max_version"_a = nb::make_tuple(1, 1));
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_TypeError)) throw;
  }
  return method();  // a package from before DLPack 1.0
}

/// An array of NumPy that shares the tensor's memory.
nb::object numpy_of(const Tensor& self) {
  if (self.dtype() == kBFloat16) {
    throw nb::type_error(
        "numpy: expected a dtype that NumPy has, got bfloat16; convert with float()");
  }
  if (self.requires_grad()) {
    detail::fail<std::runtime_error>(
        "numpy",
        "expected a tensor that does not require a gradient, got one that does; detach() it");
  }
  if (!self.is_cpu()) {
    throw nb::type_error("numpy: expected a tensor on the CPU, got one on a GPU; call cpu() first");
  }
  const auto bits = static_cast<std::uint8_t>(8 * self.element_size());
  const auto code = self.is_floating_point() ? nb::dlpack::dtype_code::Float
                    : self.dtype() == kBool  ? nb::dlpack::dtype_code::Bool
                    : self.dtype() == kUInt8 ? nb::dlpack::dtype_code::UInt
                                             : nb::dlpack::dtype_code::Int;
  const Shape& sizes = self.sizes();
  std::vector<std::size_t> shape(sizes.begin(), sizes.end());
  self.array().storage()->expose();
  auto held = std::make_unique<Tensor>(self);
  const nb::capsule owner(held.release(),
                          [](void* tensor) noexcept { delete static_cast<Tensor*>(tensor); });
  return nb::cast(
      nb::ndarray<nb::numpy>(self.array().data(), shape.size(), shape.data(), owner,
                             self.strides().data(), {static_cast<std::uint8_t>(code), bits, 1}),
      nb::rv_policy::reference);
}

}  // namespace

Tensor tensor_sharing(nb::handle object, bool copy) {
  const nb::object capsule = capsule_of(object);
  if (PyCapsule_IsValid(capsule.ptr(), kVersioned) != 0) {
    return take<dlpack::ManagedTensorVersioned>(capsule, kVersioned, "used_dltensor_versioned",
                                                copy);
  }
  if (PyCapsule_IsValid(capsule.ptr(), kLegacy) != 0) {
    return take<dlpack::ManagedTensor>(capsule, kLegacy, "used_dltensor", copy);
  }
  throw nb::value_error("from_dlpack: expected an unused DLPack capsule, got a different capsule");
}

void bind_exchange(nb::module_& module, TensorClass& tensor) {
  tensor
      .def("__dlpack__", &export_dlpack, nb::kw_only(), "stream"_a = nb::none(),
           "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none(),
           "Returns a DLPack capsule that shares the memory.")
      .def("__dlpack_device__",
           [](const Tensor& self) {
             return nb::make_tuple(self.is_cpu() ? 1 : 2,
                                   self.is_cpu() ? 0 : self.device().index());
           })
      .def(
          "numpy",
          [](const Tensor& self, bool force) {
            return numpy_of(force ? self.detach().cpu() : self);
          },
          nb::kw_only(), "force"_a = false,
          "Returns a NumPy array that shares the memory. Raises TypeError for bfloat16 and for a\n"
          "tensor on a GPU, RuntimeError for one that requires a gradient; with force=True takes\n"
          "detach().cpu().")
      .def(
          "__array__",
          [](const Tensor& self, nb::object dtype, std::optional<bool> copy) {
            nb::object array = numpy_of(self);
            if (!dtype.is_none()) array = array.attr("astype")(dtype, "copy"_a = false);
            return copy.value_or(false) ? nb::object(array.attr("copy")()) : array;
          },
          "dtype"_a = nb::none(), "copy"_a = nb::none());
  tensor.attr("__array_ufunc__") = nb::none();  // NumPy's operators leave the work to a Tensor's
  module.def(
      "from_dlpack",
      [](nb::handle object, std::optional<bool> copy) {
        return tensor_sharing(object, copy.value_or(false));
      },
      "x"_a, nb::kw_only(), "copy"_a = nb::none(),
      "Shares the memory of an array of NumPy, PyTorch, JAX, CuPy, ... that has __dlpack__.\n"
      "With copy=True copies the elements, which read-only memory needs.");
  module.def(
      "to_dlpack", [](const Tensor& tensor) { return legacy_capsule(tensor); }, "tensor"_a,
      "Returns a DLPack capsule that shares the memory, for packages that take no tensors.");
  module.def(
      "from_numpy", [](nb::handle array) { return tensor_sharing(array, false); }, "ndarray"_a,
      "Returns a tensor that shares the array's memory.");
}

}  // namespace halfgrad::python
