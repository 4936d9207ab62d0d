#include <halfgrad/io/tensor_map.h>
#include <halfgrad/python/bindings/bindings.h>

NB_MODULE(_halfgrad, module) {
  namespace python = halfgrad::python;
  module.doc() = "halfgrad's C++ library. Import halfgrad, which has the same names.";
  python::bind_types(module);
  python::TensorClass tensor(
      module, "Tensor",
      "An n-dimensional array with a gradient. Names and semantics are PyTorch's. Ops are methods\n"
      "of a Tensor and functions of the module.");
  python::bind_tensor(module, tensor);
  python::bind_exchange(module, tensor);
  python::bind_check(module);
}
