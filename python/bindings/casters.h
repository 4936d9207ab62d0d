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

}  // namespace halfgrad::python

/// Conversions of scalars and shapes between Python and C++.
namespace nanobind::detail {

template <>
struct type_caster<halfgrad::python::ValuesIndices> {
  NB_TYPE_CASTER(halfgrad::python::ValuesIndices, const_name("halfgrad.return_types.ValuesIndices"))

  static handle from_cpp(const Value& result, rv_policy, cleanup_list*) noexcept {
    try {
      const module_ types = module_::import_("halfgrad.return_types");
      return types.attr("ValuesIndices")(result.values, result.indices).release();
    } catch (python_error& error) {
      error.restore();
      return handle();
    }
  }
};

/// A shape is an integer or a sequence of integers in Python; C++ returns it as a tuple.
template <>
struct type_caster<halfgrad::Shape> {
  NB_TYPE_CASTER(halfgrad::Shape, io_name("int | collections.abc.Sequence[int]", "tuple[int, ...]"))

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
    return tuple;
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

/// A bool, an int, a float, or a NumPy scalar.
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
    return read_numpy_scalar(source);
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

  bool read_numpy_scalar(handle source) noexcept {
    if (isinstance<halfgrad::Tensor>(source) || !hasattr(source, "dtype")) return false;
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
