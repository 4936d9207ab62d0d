#pragma once

#include <halfgrad/python/bindings/op_binder.h>
#include <halfgrad/testing/bounded_ops.h>

namespace halfgrad::python {

using BoundedClass = nb::class_<testing::BoundedArray>;

/// Binds ops as functions of the module and as methods of an Array.
struct BoundedBinder {
  nb::module_& module;
  BoundedClass& array;

  template <class F, class... Extra>
  void function(const char* name, F f, const Extra&... extra) {
    module.def(name, f, "input"_a, extra...);
  }
  template <class F, class... Extra>
  void both(const char* name, F f, const Extra&... extra) {
    function(name, f, extra...);
    array.def(name, f, extra...);
  }
  /// The method takes the sizes one by one, too: `x.view(2, 3)`.
  template <class F>
  void shaped(const char* name, F f, const char* parameter, const char* doc) {
    both(name, f, nb::arg(parameter), doc);
    array.def(name, [f](const testing::BoundedArray& self, const nb::args& sizes) {
      return f(self, shape_of(sizes));
    });
  }
};

void bind_bounded_reductions(BoundedBinder& ops);
void bind_bounded_shapes(BoundedBinder& ops);

}  // namespace halfgrad::python
