#include <utility>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/shadow_weight.h>
#include <halfgrad/autograd/graph/side_work.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad {
namespace detail {
namespace {

// y = x in another dtype
// dx = dy: the engine casts every gradient to its operand's dtype.
struct Cast {
  static constexpr auto name = "to";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  DType dtype;
  Array ready = {};  // x in that dtype, if it is known already; not kept

  Array forward(const Array& x) { return ready.defined() ? std::move(ready) : x.to(dtype); }
  void backward(const Backward<1>& b) const { b.set(0, b.grad()); }
};

// y = x in memory of its own, perhaps on another device
// dx = dy on x's device
struct Copy {
  static constexpr auto name = "clone";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesNothing;
  Device device;
  Device source = {};

  Array forward(const Array& x) {
    source = x.device();
    return device == source ? x.clone() : x.to(device);
  }
  void backward(const Backward<1>& b) const { b.set(0, to(b.grad(), source)); }
};

}  // namespace

bool is_cast(const Node& node) { return dynamic_cast<const OpNode<Cast, 1>*>(&node) != nullptr; }

Tensor to_by_shadow(const Tensor& weight, DType dtype) {
  return apply(Cast{dtype, shadow_of(weight, dtype)}, weight);
}

}  // namespace detail

Tensor to(const Tensor& self, DType dtype) {
  return dtype == self.dtype() ? self : detail::apply(detail::Cast{dtype}, self);
}
Tensor to(const Tensor& self, Device device) {
  return device == self.device() ? self : detail::apply(detail::Copy{device}, self);
}
Tensor clone(const Tensor& self) { return detail::apply(detail::Copy{self.device()}, self); }
Tensor contiguous(const Tensor& self) { return self.is_contiguous() ? self : clone(self); }

}  // namespace halfgrad
