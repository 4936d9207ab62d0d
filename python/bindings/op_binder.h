#pragma once

#include <optional>
#include <vector>

#include <halfgrad/core/random.h>
#include <halfgrad/python/bindings/bindings.h>

namespace halfgrad::python {

/// Binds an op as a function of the module, whose first parameter is `input`, and as a method.
class OpBinder {
 public:
  OpBinder(nb::module_& module, TensorClass& tensor) : module_(module), tensor_(tensor) {}

  template <class Function, class... Extra>
  OpBinder& both(const char* name, Function function, const Extra&... extra) {
    module_.def(name, function, "input"_a, extra..., ReleaseGil());
    return method(name, function, extra...);
  }
  template <class Function, class... Extra>
  OpBinder& function(const char* name, Function function, const Extra&... extra) {
    module_.def(name, function, extra..., ReleaseGil());
    return *this;
  }
  template <class Function, class... Extra>
  OpBinder& method(const char* name, Function function, const Extra&... extra) {
    tensor_.def(name, function, extra..., ReleaseGil());
    return *this;
  }
  /// A method that changes the tensor and returns it: the same Python object.
  template <class Function, class... Extra>
  OpBinder& in_place(const char* name, Function function, const Extra&... extra) {
    tensor_.def(name, function, nb::rv_policy::none, extra..., ReleaseGil());
    return *this;
  }

 private:
  nb::module_& module_;
  TensorClass& tensor_;
};

/// Makes random functions of this thread draw from a generator, or from the default one for null.
class DrawsFrom {
 public:
  explicit DrawsFrom(Generator* generator) {
    if (generator != nullptr) scope_.emplace(*generator);
  }

 private:
  std::optional<detail::GeneratorScope> scope_;
};

/// The argument `generator`: None is the default generator.
inline auto generator_option() { return nb::arg("generator").none() = nb::none(); }

/// The shape in `f(2, 3)` and `f((2, 3))`. Raises TypeError for anything but integers.
Shape shape_of(const nb::args& sizes);

}  // namespace halfgrad::python
