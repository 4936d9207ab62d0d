#pragma once

#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/numbers/scalar.h>
#include <halfgrad/core/shape.h>

namespace halfgrad::python {

/// The result of ops that return elements and where they were: a named tuple in Python.
struct ValuesIndices {
  Tensor values;
  Tensor indices;
};

/// The result of aminmax(): a named tuple in Python.
struct MinMax {
  Tensor min;
  Tensor max;
};

/// An array of NumPy as the second operand of an operator, which becomes a tensor. Without it NumPy
/// compares the objects, and == is False.
struct NumPyArray {
  nanobind::object array;
};

/// The result of ops that return several tensors: a tuple in Python.
struct TensorTuple {
  std::vector<Tensor> tensors;
};

}  // namespace halfgrad::python

/// Conversions of scalars and shapes between Python and C++.
namespace nanobind::detail {

/// Returns a named tuple of return_types.py, or null with Python's error set.
inline handle named_tuple(const char* type, const halfgrad::Tensor& first,
                          const halfgrad::Tensor& second) noexcept {
  try {
    return module_::import_("halfgrad.return_types").attr(type)(first, second).release();
  } catch (python_error& error) {
    error.restore();
    return handle();
  }
}

template <>
struct type_caster<halfgrad::python::ValuesIndices> {
  NB_TYPE_CASTER(halfgrad::python::ValuesIndices, const_name("halfgrad.return_types.ValuesIndices"))

  static handle from_cpp(const Value& result, rv_policy, cleanup_list*) noexcept {
    return named_tuple("ValuesIndices", result.values, result.indices);
  }
};

template <>
struct type_caster<halfgrad::python::MinMax> {
  NB_TYPE_CASTER(halfgrad::python::MinMax, const_name("halfgrad.return_types.MinMax"))

  static handle from_cpp(const Value& result, rv_policy, cleanup_list*) noexcept {
    return named_tuple("MinMax", result.min, result.max);
  }
};

template <>
struct type_caster<halfgrad::python::TensorTuple> {
  NB_TYPE_CASTER(halfgrad::python::TensorTuple, const_name("tuple[halfgrad._halfgrad.Tensor, ...]"))

  static handle from_cpp(const Value& result, rv_policy, cleanup_list*) noexcept {
    list elements;
    for (const halfgrad::Tensor& tensor : result.tensors) elements.append(nanobind::cast(tensor));
    return nanobind::tuple(elements).release();
  }
};

template <>
struct type_caster<halfgrad::python::NumPyArray> {
  NB_TYPE_CASTER(halfgrad::python::NumPyArray, const_name("numpy.ndarray"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    try {
      if (!hasattr(source, "__array_interface__")) return false;
      if (len(object(source.attr("shape"))) == 0) return false;  // a number
      value.array = borrow(source);
      return true;
    } catch (...) {
      PyErr_Clear();
      return false;
    }
  }
};

/// A shape is an integer or a sequence of integers in Python; C++ returns it as a Size, a tuple.
template <>
struct type_caster<halfgrad::Shape> {
  NB_TYPE_CASTER(halfgrad::Shape,
                 io_name("int | collections.abc.Sequence[int]", "halfgrad.return_types.Size"))

  bool from_python(handle source, std::uint32_t flags, cleanup_list* cleanup) noexcept {
    if (PyTuple_Check(source.ptr()) == 0 && PyList_Check(source.ptr()) == 0) {
      make_caster<std::int64_t> number;
      if (PyBool_Check(source.ptr()) || !number.from_python(source, flags, cleanup)) return false;
      value = halfgrad::Shape(number.value);
      return true;
    }
    try {
      halfgrad::Shape sizes;
      for (handle element : borrow<object>(source)) {
        make_caster<std::int64_t> number;
        if (!number.from_python(element, flags, cleanup)) return false;
        sizes.push_back(number.value);
      }
      value = sizes;
      return true;
    } catch (...) {  // more dimensions than a Shape has
      PyErr_Clear();
      return false;
    }
  }

  static handle from_cpp(const halfgrad::Shape& sizes, rv_policy, cleanup_list*) noexcept {
    PyObject* const tuple = PyTuple_New(sizes.size());
    for (int i = 0; tuple != nullptr && i < sizes.size(); ++i) {
      PyTuple_SetItem(tuple, i, PyLong_FromLongLong(sizes[i]));
    }
    if (tuple == nullptr) return handle();
    const object sizes_tuple = steal(tuple);
    try {  // imported each time: a reference that is kept would outlive Python's modules
      return object(module_::import_("halfgrad.return_types").attr("Size")(sizes_tuple)).release();
    } catch (python_error& error) {
      error.restore();
      return handle();
    }
  }
};

/// Tensors of any iterable but a tensor, whose rows nobody means, and an iterator: the first
/// overload would use it up. Python's functions make lists of iterators.
template <>
struct type_caster<std::vector<halfgrad::Tensor>> {
  NB_TYPE_CASTER(std::vector<halfgrad::Tensor>,
                 io_name("collections.abc.Iterable[halfgrad._halfgrad.Tensor]",
                         "list[halfgrad._halfgrad.Tensor]"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (isinstance<halfgrad::Tensor>(source) || hasattr(source, "__next__")) return false;
    try {
      value.clear();
      for (const handle element : borrow<object>(source)) {
        if (!isinstance<halfgrad::Tensor>(element)) return false;
        value.push_back(cast<halfgrad::Tensor>(element));
      }
      return true;
    } catch (...) {  // not iterable
      PyErr_Clear();
      return false;
    }
  }

  static handle from_cpp(const std::vector<halfgrad::Tensor>& tensors, rv_policy,
                         cleanup_list*) noexcept {
    list elements;
    for (const halfgrad::Tensor& tensor : tensors) elements.append(nanobind::cast(tensor));
    return elements.release();
  }
};

/// A bool, an int, a float, a NumPy scalar, or a tensor without dimensions.
template <>
struct type_caster<halfgrad::Scalar> {
  using Value = halfgrad::Scalar;
  static constexpr auto Name = const_name("bool | int | float");
  template <class T>
  using Cast = movable_cast_t<T>;
  template <class T>
  static constexpr bool can_cast() {
    return true;
  }
  explicit operator Value*() { return &value; }
  explicit operator Value&() { return value; }
  explicit operator Value&&() { return static_cast<Value&&>(value); }

  bool from_python(handle source, std::uint32_t flags, cleanup_list*) noexcept {
    if (read_number(source.ptr())) return true;
    if ((flags & static_cast<std::uint32_t>(cast_flags::convert)) == 0) return false;
    return isinstance<halfgrad::Tensor>(source) ? read_tensor(source) : read_numpy_scalar(source);
  }

  static handle from_cpp(const Value& scalar, rv_policy, cleanup_list*) noexcept {
    if (scalar.kind() == halfgrad::DType::boolean) return PyBool_FromLong(scalar.to<bool>());
    if (scalar.kind() == halfgrad::DType::i64)
      return PyLong_FromLongLong(scalar.cast<std::int64_t>());
    return PyFloat_FromDouble(scalar.cast<double>());
  }

  Value value = Value(0);

 private:
  bool read_number(PyObject* number) noexcept {
    if (PyBool_Check(number)) {
      value = Value(number == Py_True);
    } else if (PyLong_Check(number)) {
      const long long integer = PyLong_AsLongLong(number);
      if (integer == -1 && PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        return false;
      }
      value = Value(integer);
    } else if (PyFloat_Check(number)) {
      value = Value(PyFloat_AsDouble(number));
    } else {
      return false;
    }
    return true;
  }

  /// Refuses a tensor that needs a gradient, which would be lost.
  bool read_tensor(handle source) noexcept {
    try {
      const auto tensor = cast<halfgrad::Tensor>(source);
      if (tensor.dim() != 0 || tensor.requires_grad()) return false;
      if (tensor.is_floating_point()) {
        value = Value(tensor.item());
      } else if (tensor.dtype() == halfgrad::DType::boolean) {
        value = Value(tensor.item<bool>());
      } else {
        value = Value(tensor.item<std::int64_t>());
      }
      return true;
    } catch (...) {
      PyErr_Clear();
      return false;
    }
  }

  bool read_numpy_scalar(handle source) noexcept {
    if (!hasattr(source, "dtype")) return false;
    try {
      return len(object(source.attr("shape"))) == 0 &&
             read_number(object(source.attr("item")()).ptr());
    } catch (...) {
      PyErr_Clear();
      return false;
    }
  }
};

}  // namespace nanobind::detail
