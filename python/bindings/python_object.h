#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

namespace halfgrad::python {

namespace nb = nanobind;

/// A Python object that C++ holds: hooks, closures, data sets. Threads without Python's lock may
/// copy and destroy it. At Python's exit all of them are dropped, because its garbage collector
/// cannot see cycles through C++: a hook usually refers to the tensor that it belongs to.
class PythonObject {
 public:
  explicit PythonObject(nb::object object);
  /// Call it with Python's lock. Throws std::runtime_error after Python's exit.
  nb::object get() const;

  /// Makes Python call drop_all() at its exit.
  static void drop_at_exit();

 private:
  struct Holder;
  static void drop_all();
  std::shared_ptr<Holder> holder_;
};

/// A function of C++ that calls one of Python.
template <class Result, class... Arguments>
std::function<Result(Arguments...)> function_calling(const nb::callable& callable) {
  return [object = PythonObject(callable)](Arguments... arguments) -> Result {
    const nb::gil_scoped_acquire lock;
    const nb::object result = object.get()(std::forward<Arguments>(arguments)...);
    if constexpr (!std::is_void_v<Result>) return nb::cast<Result>(result);
  };
}

}  // namespace halfgrad::python
