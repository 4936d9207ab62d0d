#include <array>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/product.h>
#include <halfgrad/autograd/reference.h>

namespace halfgrad {
namespace detail {
namespace {

// C = beta S + alpha A B;  dS = beta dC,  dA = alpha dC B^T,  dB = alpha A^T dC
struct AddMm {
  static constexpr auto name = "addmm";
  static constexpr auto precision = Precision::tensor_core;
  static constexpr unsigned saves = kSavesInputs;
  static constexpr std::array reads = {kSavesNothing, kSavesInput << 2, kSavesInput << 1};
  Scalar beta;
  Scalar alpha;

  Array forward(const Array& self, const Array& a, const Array& b) const {
    expect_one_dtype(name, a, b);
    expect_one_dtype(name, self, a);
    if (a.ndim() != 2 || b.ndim() != 2 || a.size(1) != b.size(0)) {
      throw std::invalid_argument("addmm: expected two matrices [m, k] and [k, n], got " +
                                  to_string(a.sizes()) + " and " + to_string(b.sizes()));
    }
    const Array out = Array::empty({a.size(0), b.size(1)}, a.dtype(), a.device());
    const Array addend = self.expand(out.sizes());
    if (beta.to<double>() != 0) out.copy_(addend);
    if (alpha.to<double>() == 0) {  // as in BLAS: a and b, NaN perhaps, are not read
      product(0, a.slice(1, 0, 0), b.slice(0, 0, 0), beta.to<double>(), out);
    } else {
      product(alpha.to<double>(), a, b, beta.to<double>(), out);
    }
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

OpEntry addmm_entry() {
  constexpr std::int64_t kDepth = 5;
  constexpr double kBeta = 0.5;
  constexpr double kAlpha = -2;
  const auto run = [](const std::vector<Tensor>& in) {
    return addmm(in[0], in[1], in[2], kBeta, kAlpha);
  };
  const auto reference = [](const std::vector<Values>& in) {
    return tabulated({3, 4}, [&](const Shape& i) {
      return kBeta * at(in[0], i) + kAlpha * sum_over(kDepth, [&](std::int64_t k) {
                                      return at(in[1], {i[0], k}) * at(in[2], {k, i[1]});
                                    });
    });
  };
  const auto operand = [](const Shape& sizes) {
    return OperandSpec{.sizes = sizes, .low = -1, .high = 1};
  };
  const auto example = [&](const char* what, const Shape& self) {
    return OpExample{
        what, {operand(self), operand({3, kDepth}), operand({kDepth, 4})}, run, reference};
  };
  // 5 terms of at most 2 and one of 0.5: each of 7 additions and roundings loses a roundoff
  // of 10.5.
  return {.name = AddMm::name,
          .precision = AddMm::precision,
          .roundoffs = 7 * 10.5,
          .examples = {example("matrix", {3, 4}), example("row", {4}), example("column", {3, 1})}};
}

}  // namespace detail

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
             Scalar alpha) {
  return detail::apply(detail::AddMm{beta, alpha}, self, mat1, mat2);
}

}  // namespace halfgrad
