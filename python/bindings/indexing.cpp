#include <halfgrad/autograd/indexing.h>

#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/python/bindings/bindings.h>

/// x[...] and x[...] = y with integers, slices, None, ..., masks, and tensors, arrays or lists of
/// integers.
namespace halfgrad::python {
namespace {

using indexing::TensorIndex;
using Indices = nb::typed<nb::sequence, nb::any>;

std::optional<std::int64_t> limit_of(const nb::object& slice, const char* name) {
  return read<std::optional<std::int64_t>>(slice.attr(name), "index",
                                           std::string("the ") + name + " of a slice");
}

[[noreturn]] void refuse_index(nb::handle index) {
  const std::string type = nb::cast<std::string>(index.type().attr("__name__"));
  throw nb::type_error(
      ("index: expected an int, a slice, None, ..., a tensor, a mask or a list, got "
       "an object of type " +
       type)
          .c_str());
}

/// A list without elements picks none, as in NumPy.
Tensor index_tensor(nb::handle index) {
  const Tensor tensor = tensor_of(index, std::nullopt, std::nullopt);
  return tensor.numel() == 0 && tensor.is_floating_point() ? tensor.to(kInt64) : tensor;
}

TensorIndex index_of(nb::handle index) {
  if (index.is_none()) return indexing::None;
  if (index.is(nb::ellipsis())) return indexing::Ellipsis;
  if (PyBool_Check(index.ptr())) return tensor(index.ptr() == Py_True);
  if (PyLong_Check(index.ptr())) {
    std::int64_t integer = 0;
    if (nb::try_cast(index, integer)) return integer;
    throw nb::index_error("index: expected an integer of 64 bits, got a larger one");
  }
  if (PySlice_Check(index.ptr())) {
    const auto slice = nb::borrow(index);
    return indexing::Slice(limit_of(slice, "start"), limit_of(slice, "stop"),
                           limit_of(slice, "step"));
  }
  if (nb::isinstance<Tensor>(index)) return nb::cast<Tensor>(index);
  if (PyUnicode_Check(index.ptr()) || PyFloat_Check(index.ptr())) refuse_index(index);
  if (PySequence_Check(index.ptr()) || nb::hasattr(index, "__dlpack__")) return index_tensor(index);
  if (PyIndex_Check(index.ptr())) {
    return nb::cast<std::int64_t>(nb::steal(PyNumber_Index(index.ptr())));
  }
  refuse_index(index);
}

std::vector<TensorIndex> indices_of(nb::handle index) {
  std::vector<TensorIndex> indices;
  if (PyTuple_Check(index.ptr()) == 0) {
    indices.push_back(index_of(index));
  } else {
    for (const nb::handle part : nb::borrow<nb::tuple>(index)) indices.push_back(index_of(part));
  }
  return indices;
}

Tensor get_item(const Tensor& self, nb::handle index) {
  const std::vector<TensorIndex> indices = indices_of(index);
  const nb::gil_scoped_release release;
  return self.index(indices);
}

void set_item(const Tensor& self, nb::handle index, nb::handle value) {
  const std::vector<TensorIndex> indices = indices_of(index);
  Scalar number = 0;
  if (!nb::isinstance<Tensor>(value) && nb::try_cast(value, number)) {
    const nb::gil_scoped_release release;
    self.index_put_(indices, number);
    return;
  }
  const Tensor source = nb::isinstance<Tensor>(value)
                            ? nb::cast<Tensor>(value)
                            : tensor_of(value, self.dtype(), self.device());
  const nb::gil_scoped_release release;
  self.index_put_(indices, source);
}

bool contains(const Tensor& self, Scalar value) { return (self == value).any().item() != 0; }

}  // namespace

void bind_indexing(nb::module_& module, TensorClass& tensor) {
  tensor
      .def("__getitem__", &get_item, nb::arg("index").none(),
           "A view for integers, slices, None and ...; a copy for masks, tensors and lists.")
      .def("__setitem__", &set_item, nb::arg("index").none(), "value"_a)
      .def("__iter__",
           [](const Tensor& self) {
             if (self.dim() == 0) throw nb::type_error("iteration over a 0-dimensional tensor");
             return nb::iter(nb::cast(self.unbind()));
           })
      .def("__contains__", &contains, "value"_a);
  tensor.def(
      "index_put_",
      [](Tensor& self, const Indices& indices, const Tensor& values, bool accumulate) -> Tensor& {
        const std::vector<TensorIndex> parts = indices_of(nb::tuple(indices));
        const nb::gil_scoped_release release;
        return self.index_put_(parts, values, accumulate);
      },
      "indices"_a, "values"_a, "accumulate"_a = false, nb::rv_policy::none,
      "Does self[indices] = values, or with `accumulate` self[indices] += values, where an\n"
      "element that is picked several times gets the sum.");
  const auto index_put = [](const Tensor& input, const Indices& indices, const Tensor& values,
                            bool accumulate) {
    const std::vector<TensorIndex> parts = indices_of(nb::tuple(indices));
    const nb::gil_scoped_release release;
    return halfgrad::index_put(input, parts, values, accumulate);
  };
  const char* const doc = "A copy of the input after index_put_().";
  tensor.def("index_put", index_put, "indices"_a, "values"_a, "accumulate"_a = false, doc);
  module.def("index_put", index_put, "input"_a, "indices"_a, "values"_a, "accumulate"_a = false,
             doc);
}

}  // namespace halfgrad::python
