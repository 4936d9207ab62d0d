#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <halfgrad/autograd/op.h>

/// What views are made of.
namespace halfgrad::detail {

/// Lets `output`, if it shares the storage of `self`, follow what `self` is a view of.
void follow_base_of(const Tensor& self, const Tensor& output);

/// Records `result`, a view of `self` unless it had to be copied; `backward` makes of its gradient
/// that of `self`.
template <class F>
Tensor record_view(const char* name, const Tensor& self, Array result, F backward) {
  Tensor output = record(name, std::move(result), std::span(&self, 1),
                         [backward](const Tensor& grad, std::span<Tensor> grad_inputs) {
                           grad_inputs[0] = backward(grad);
                         });
  follow_base_of(self, output);
  return output;
}

/// Where the elements of an array lie in its storage, counted in elements.
struct Geometry {
  explicit Geometry(const Array& array)
      : sizes(array.sizes()), strides(array.strides()), offset(array.storage_offset()) {}

  Shape sizes;
  Shape strides;
  std::int64_t offset;
};

/// `numbers` put into a storage of zeros as `from` says, where those that meet are added up, and
/// that storage seen as `to` says. Linear in them; the adjoint goes from `to` to `from`.
Tensor restrided(const Tensor& numbers, const Geometry& from, const Geometry& to);

}  // namespace halfgrad::detail
