#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <halfgrad/autograd/graph/op.h>

/// Recording of views, and the gradient of a view with other strides.
namespace halfgrad::detail {

/// Makes `output` a view of the base of `self`, if both share one storage.
void follow_base_of(const Tensor& self, const Tensor& output);

/// Records `result`, a view of `self` or a copy where no view is possible. `backward` maps the
/// gradient of the result to that of `self`.
template <class F>
Tensor record_view(const char* name, const Tensor& self, Array result, F backward) {
  Tensor output = record(name, std::move(result), std::span(&self, 1),
                         [backward](const Tensor& grad, std::span<Tensor> grad_inputs) {
                           grad_inputs[0] = backward(grad);
                         });
  follow_base_of(self, output);
  return output;
}

/// Reshapes a contiguous tensor to which nothing else refers. Like that of ATen's _unsafe_view, the
/// result is no view: users may call detach_() and resize_() on it.
Tensor unsafe_view(const Tensor& temporary, const Shape& sizes);

/// The sizes, strides and storage offset of an array, in elements.
struct Geometry {
  explicit Geometry(const Array& array)
      : sizes(array.sizes()), strides(array.strides()), offset(array.storage_offset()) {}

  Shape sizes;
  Shape strides;
  std::int64_t offset;
};

/// Scatter-adds `values` with the strides of `from` into zeros, and views the result with the
/// strides of `to`. It is linear in `values`; its derivative exchanges `from` and `to`.
Tensor restrided(const Tensor& values, const Geometry& from, const Geometry& to);

}  // namespace halfgrad::detail
