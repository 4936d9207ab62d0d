#include <halfgrad/autograd/ops/shared/pending_product.h>

#include <memory>

#include <halfgrad/autograd/graph/elementwise_op.h>
#include <halfgrad/autograd/ops/shared/linear.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/autograd/ops/shared/relu.h>
#include <halfgrad/core/deferred.h>

namespace halfgrad::detail {
namespace {

using ReluSlope = Slope<Relu, 0, 1>;

// out = a b, or relu's gradient for dy = a b
class PendingProduct final : public Deferred {
 public:
  PendingProduct(const Array& a, const Array& b, const Array& out) : a_(a), b_(b), out_(out) {}

  /// Computes relu's gradient, where y is relu's output. Returns false if `out` was computed before
  /// as the product alone, or if y has other strides.
  bool settle_with_relu(const Array& y, const Array& mask) {
    if (!out_.defined() || !y.is_contiguous()) return false;
    if (y.sizes() != out_.sizes() || y.dtype() != out_.dtype()) return false;
    relu_output_ = y;
    mask_ = mask;
    settle();
    relu_output_ = mask_ = {};
    return is_masked_;
  }

 private:
  void compute() override {
    const Array a = as_matrix(a_), out = as_matrix(out_);
    is_masked_ = relu_output_.defined();
    if (!is_masked_) {
      product(1, a, b_, 0, out);
    } else if (!masked_product(a, b_, as_matrix(relu_output_), mask_, out)) {
      product(1, a, b_, 0, out);
      elementwise(GradientKernel<ReluSlope>{}, out.dtype(), out, out, as_matrix(relu_output_));
    }
    a_ = b_ = out_ = {};
  }

  Array a_, b_, out_, relu_output_, mask_;
  bool is_masked_ = false;
};

}  // namespace

Tensor pending_product(const Array& a, const Array& b) {
  Shape sizes = a.sizes();
  sizes[a.ndim() - 1] = b.size(1);
  Tensor result(Array::empty(sizes, a.dtype(), a.device()));
  result.impl()->deferred = std::make_shared<PendingProduct>(a, b, result.array());
  return result;
}

Array relu_gradient(const Tensor& dy, const Array& y, const Array& mask) {
  auto* const pending = dynamic_cast<PendingProduct*>(dy.impl()->deferred.get());
  const bool is_unshared = dy.impl().use_count() == 1;
  if (pending != nullptr && is_unshared && pending->settle_with_relu(y, mask)) return dy.array();
  return Gradient<ReluSlope>{{}, y.dtype()}.forward(dy.array(), y);
}

}  // namespace halfgrad::detail
