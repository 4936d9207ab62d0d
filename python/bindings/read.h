#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/python/bindings/casters.h>

namespace halfgrad::python {

namespace nb = nanobind;

/// The name of a type in an error.
template <class T>
constexpr const char* kind_of() {
  if constexpr (std::is_same_v<T, bool>) {
    return "a bool";
  } else if constexpr (std::is_integral_v<T>) {
    return "an int";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "a number";
  } else if constexpr (std::is_same_v<T, std::string>) {
    return "a string";
  } else if constexpr (std::is_same_v<T, nb::dict>) {
    return "a dict";
  } else if constexpr (std::is_same_v<T, nb::list>) {
    return "a list";
  } else if constexpr (std::is_same_v<T, nb::tuple>) {
    return "a tuple";
  } else if constexpr (std::is_same_v<T, nb::callable>) {
    return "a function";
  } else if constexpr (std::is_same_v<T, Tensor>) {
    return "a tensor";
  } else if constexpr (std::is_same_v<T, std::optional<Tensor>>) {
    return "a tensor or None";
  } else if constexpr (std::is_same_v<T, std::optional<std::int64_t>>) {
    return "an int or None";
  } else if constexpr (std::is_same_v<T, std::pair<Tensor, Tensor>>) {
    return "two tensors";
  } else if constexpr (std::is_same_v<T, std::pair<double, double>>) {
    return "a pair of floats";
  } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
    return "an iterable of tensors";
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    return "a list of floats";
  } else {
    static_assert(std::is_same_v<T, std::vector<std::int64_t>>);
    return "a list of ints";
  }
}

[[noreturn]] inline void refuse(nb::handle value, const std::string& owner, const std::string& name,
                                const char* kind) {
  const auto type = nb::cast<std::string>(value.type().attr("__name__"));
  throw nb::type_error((owner + ": expected " + name + " to be " + kind + ", got " + type).c_str());
}

/// Converts a value of Python. Throws TypeError with the owner and the name of the value if it has
/// another type; nb::cast would throw std::bad_cast, which names nothing.
template <class T>
T read(nb::handle value, const std::string& owner, const std::string& name) {
  T result{};
  if (!nb::try_cast(value, result)) refuse(value, owner, name, kind_of<T>());
  return result;
}

/// The name of a key in an error: "lr", with quotes.
inline std::string quoted(const std::string& key) { return '"' + key + '"'; }

}  // namespace halfgrad::python
