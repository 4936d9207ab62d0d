#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/product.h>

namespace halfgrad {
namespace detail {
namespace {

// C = beta S + alpha A B;  dS = beta dC,  dA = alpha dC B^T,  dB = alpha A^T dC
struct AddMm {
  static constexpr auto name = "addmm";
  static constexpr auto precision = Precision::tensor_core;
  static constexpr unsigned saves = kSavesInputs;
  Scalar beta;
  Scalar alpha;

  Array forward(const Array& self, const Array& a, const Array& b) const {
    expect_one_floating_dtype(name, a, b);
    expect_one_floating_dtype(name, self, a);
    if (a.ndim() != 2 || b.ndim() != 2 || a.size(1) != b.size(0)) {
      throw std::invalid_argument("addmm: expected two matrices [m, k] and [k, n], got " +
                                  to_string(a.sizes()) + " and " + to_string(b.sizes()));
    }
    const Array out = Array::empty({a.size(0), b.size(1)}, a.dtype(), a.device());
    const Array addend = self.expand(out.sizes());
    if (beta.value() != 0) out.copy_(addend);
    product(alpha.value(), a, b, beta.value(), out);
    return out;
  }

  void backward(const Backward<3>& node) const {
    const Tensor& dc = node.grad();
    if (node.needs(0)) node.set(0, dc * beta);
    if (node.needs(1)) node.set(1, mm(dc, node.input(2).t()) * alpha);
    if (node.needs(2)) node.set(2, mm(node.input(1).t(), dc) * alpha);
  }
};

}  // namespace
}  // namespace detail

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
             Scalar alpha) {
  return detail::apply(detail::AddMm{beta, alpha}, self, mat1, mat2);
}

}  // namespace halfgrad
