#include <array>
#include <utility>
#include <vector>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr char kAddmm[] = "addmm";
constexpr char kBaddbmm[] = "baddbmm";

// C = beta S + alpha A B
// addmm: A [m, k], B [k, n], C [m, n]; baddbmm: A [b, m, k], B [b, k, n], C [b, m, n].
// S broadcasts to C.
template <const char* kName, int kDims>
struct AddProduct {
  static constexpr auto name = kName;
  static constexpr auto precision = Precision::tensor_core;
  static constexpr unsigned saves = kSavesInputs;
  static constexpr std::array reads = {kSavesNothing, operands(2), operands(1)};
  Scalar beta;
  Scalar alpha;

  Array forward(const Array& self, const Array& a, const Array& b) const {
    expect_one_dtype(name, a, b);
    expect_one_dtype(name, self, a);
    const bool matrices = a.ndim() == kDims && b.ndim() == kDims && a.size(-1) == b.size(-2);
    if (!matrices || (kDims == 3 && a.size(0) != b.size(0))) {
      const char* const expected =
          kDims == 3 ? "batches [b, m, k] and [b, k, n]" : "two matrices [m, k] and [k, n]";
      fail(name, "expected {}, got {} and {}", expected, a.sizes(), b.sizes());
    }
    Shape sizes = a.sizes();
    sizes[kDims - 1] = b.size(-1);
    const Array out = Array::empty(sizes, a.dtype(), a.device());
    const Array addend = self.expand(sizes);
    if (beta.to<double>() != 0) out.copy_(addend);
    if (alpha.to<double>() == 0) {  // as in BLAS, a and b are not read: they may hold NaN
      product(0, a.slice(-1, 0, 0), b.slice(-2, 0, 0), beta.to<double>(), out);
    } else {
      product(alpha.to<double>(), a, b, beta.to<double>(), out);
    }
    return out;
  }

  // dS = beta dC,  dA = alpha dC B^T,  dB = alpha A^T dC
  void backward(const Backward<3>& node) const {
    const Tensor& dc = node.grad();
    if (node.needs(0)) node.set(0, dc * beta);
    if (node.needs(1)) node.set(1, matmul(dc, transpose(node.input(2), -2, -1)) * alpha);
    if (node.needs(2)) node.set(2, matmul(transpose(node.input(1), -2, -1), dc) * alpha);
  }
};

using AddMm = AddProduct<kAddmm, 2>;
using BaddBmm = AddProduct<kBaddbmm, 3>;

// Operands S, A and B. S broadcasts.
BoundedReference add_product_reference(double beta, double alpha) {
  return [=](const AnyArithmetic& a, const std::vector<Values>& in) {
    const int last = in[1].sizes.size() - 1;
    const Shape sizes = replaced(in[1].sizes, last, static_cast<double>(in[2].sizes.back()));
    const Values self = tabulated(sizes, [&](const Shape& i) { return at(in[0], i); });
    Elements added;
    for (const double x : self.data) added.push_back(scaled(a, a.number(x), beta));
    if (alpha == 1) return matmul_reference_from(a, {in[1], in[2]}, added.data());
    Elements out = matmul_reference(a, {in[1], in[2]});
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = a.add(scaled(a, out[i], alpha), added[i]);
    return out;
  };
}

// Examples with A [..., 3, 5] and B [..., 5, 4], one for each S in `selves`, which broadcasts.
template <class Op>
OpEntry add_product_entry(const Shape& batch,
                          const std::vector<std::pair<const char*, Shape>>& selves) {
  constexpr std::int64_t kDepth = 5;
  constexpr double kBeta = 0.5;
  constexpr double kAlpha = -2;
  const auto with_batch = [&](std::int64_t rows, std::int64_t columns) {
    Shape sizes = batch;
    sizes.push_back(rows);
    sizes.push_back(columns);
    return sizes;
  };
  const auto run = [](const std::vector<Tensor>& in) {
    return apply(Op{kBeta, kAlpha}, in[0], in[1], in[2]);
  };
  const auto operand = [](const Shape& sizes) {
    return OperandSpec{.sizes = sizes, .low = -1, .high = 1};
  };
  // An element is the sum of 5 products of magnitude at most 2 and a term of at most 0.5. Each of 7
  // additions and roundings loses at most a roundoff of 10.5.
  OpEntry entry{.name = Op::name,
                .precision = Op::precision,
                .roundoffs = 7 * 10.5,
                .examples = {},
                .bounded_reference = add_product_reference(1, 1)};
  for (const auto& [what, self] : selves) {
    entry.examples.push_back(
        {what,
         {operand(self), operand(with_batch(3, kDepth)), operand(with_batch(kDepth, 4))},
         run,
         in_double(with_batch(3, 4), add_product_reference(kBeta, kAlpha))});
  }
  return entry;
}

}  // namespace

OpEntry addmm_entry() {
  return add_product_entry<AddMm>({}, {{"matrix", {3, 4}}, {"row", {4}}, {"column", {3, 1}}});
}
OpEntry baddbmm_entry() {
  return add_product_entry<BaddBmm>(
      {2}, {{"batch", {2, 3, 4}}, {"matrix", {3, 4}}, {"column", {2, 3, 1}}});
}

}  // namespace detail

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, Scalar beta,
             Scalar alpha) {
  return detail::apply(detail::AddMm{beta, alpha}, self, mat1, mat2);
}
Tensor baddbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta,
               Scalar alpha) {
  return detail::apply(detail::BaddBmm{beta, alpha}, self, batch1, batch2);
}

}  // namespace halfgrad
