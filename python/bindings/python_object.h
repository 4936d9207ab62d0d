#pragma once

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <nanobind/nanobind.h>

#include <halfgrad/python/bindings/read.h>

namespace halfgrad::python {

namespace nb = nanobind;

/// Drops references between Python and C++ at Python's exit, because its garbage collector cannot
/// see cycles through C++: a hook usually refers to the tensor that it belongs to.
class DroppedAtExit {
 public:
  DroppedAtExit() = default;
  DroppedAtExit(const DroppedAtExit&) = delete;
  DroppedAtExit& operator=(const DroppedAtExit&) = delete;
  virtual ~DroppedAtExit() = default;

  /// Called once, with Python's lock, while Python still works.
  virtual void drop() = 0;

  static void add(const std::shared_ptr<DroppedAtExit>& object);
  /// Makes Python drop all objects at its exit.
  static void begin(nb::module_& module);
};

/// A Python object that C++ holds: hooks, closures, data sets. Threads without Python's lock may
/// copy and destroy it.
class PythonObject {
 public:
  explicit PythonObject(nb::object object);
  /// Call it with Python's lock. Throws std::runtime_error after Python's exit.
  nb::object get() const;

 private:
  struct Holder;
  std::shared_ptr<Holder> holder_;
};

/// Takes Python's lock. Throws std::runtime_error after Python's exit.
class PythonLock {
 public:
  PythonLock();

 private:
  nb::gil_scoped_acquire lock_;
};

/// The name of a function in an error.
inline std::string name_of(nb::handle function) {
  const nb::handle named = nb::hasattr(function, "__name__") ? function : function.type();
  return nb::cast<std::string>(nb::str(named.attr("__name__")));
}

/// A function of C++ that calls one of Python.
template <class Result, class... Arguments>
std::function<Result(Arguments...)> function_calling(const nb::callable& callable) {
  return [object = PythonObject(callable)](Arguments... arguments) -> Result {
    const PythonLock lock;
    const nb::object function = object.get();
    const nb::object result = function(std::forward<Arguments>(arguments)...);
    if constexpr (!std::is_void_v<Result>) {
      Result value{};
      if (!nb::try_cast(result, value)) {
        refuse(result, name_of(function), "the result", kind_of<Result>());
      }
      return value;
    }
  };
}

}  // namespace halfgrad::python
