#include <algorithm>
#include <array>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr char kMatmul[] = "matmul";
constexpr char kMm[] = "mm";
constexpr char kBmm[] = "bmm";
constexpr char kMv[] = "mv";

[[noreturn]] void refuse_shapes(const char* op, const char* expected, const Shape& a,
                                const Shape& b) {
  fail(op, "expected {}, got {} and {}", expected, a, b);
}

// Returns [..., m, n], without m if a is a vector and without n if b is.
Shape product_sizes(const char* op, const Array& a, const Array& b) {
  if (a.ndim() == 0 || b.ndim() == 0 || a.size(-1) != b.size(b.ndim() == 1 ? 0 : -2)) {
    refuse_shapes(op, "[..., m, k] and [..., k, n], or a vector [k] for either", a.sizes(),
                  b.sizes());
  }
  const auto batch = [](const Array& x) {
    return Shape(x.sizes().data(), static_cast<std::size_t>(std::max(0, x.ndim() - 2)));
  };
  const bool is_batch = a.ndim() > 2 || b.ndim() > 2;
  Shape sizes = is_batch ? broadcast_shapes(batch(a), batch(b), op) : Shape();
  if (a.ndim() > 1) sizes.push_back(a.size(-2));
  if (b.ndim() > 1) sizes.push_back(b.size(-1));
  return sizes;
}

// C = A B,  A [..., m, k], B [..., k, n], C [..., m, n]; the dimensions "..." broadcast
// A vector is a row [1, k] on the left and a column [k, 1] on the right.
template <const char* kName>
struct Product {
  static constexpr auto name = kName;
  static constexpr auto precision = Precision::tensor_core;
  static constexpr unsigned saves = kSavesInputs;
  static constexpr std::array reads = {operands(1), operands(0)};
  bool a_is_vector = false;
  bool b_is_vector = false;
  bool b_is_shared = false;  // one B for a batch of A

  Array forward(const Array& a, const Array& b) {
    expect_one_dtype(name, a, b);
    const Array out = Array::empty(product_sizes(name, a, b), a.dtype(), a.device());
    a_is_vector = a.ndim() == 1;
    b_is_vector = b.ndim() == 1;
    b_is_shared = a.ndim() > 2 && b.ndim() <= 2;
    if (!a_is_vector && !b_is_vector) {
      product(1, a, b, 0, out);
      return out;
    }
    const Array columns = b_is_vector ? out.unsqueeze(-1) : out;
    product(1, a_is_vector ? a.unsqueeze(0) : a, b_is_vector ? b.unsqueeze(1) : b, 0,
            a_is_vector ? columns.unsqueeze(-2) : columns);
    return out;
  }

  // dA = dC B^T,  dB = A^T dC
  void backward(const Backward<2>& node) const {
    Tensor dc = node.grad();
    if (b_is_vector) dc = unsqueeze(dc, -1);
    if (a_is_vector) dc = unsqueeze(dc, -2);
    if (node.needs(0)) {
      const Tensor b = b_is_vector ? unsqueeze(node.input(1), 1) : node.input(1);
      const Tensor da = matmul(dc, transpose(b, -2, -1));
      node.set(0, a_is_vector ? squeeze(da, -2) : da);
    }
    if (node.needs(1)) {
      Tensor a = a_is_vector ? unsqueeze(node.input(0), 0) : node.input(0);
      if (b_is_shared) {
        a = flatten(a, 0, -2);
        dc = flatten(dc, 0, -2);
      }
      const Tensor db = matmul(transpose(a, -2, -1), dc);
      node.set(1, b_is_vector ? squeeze(db, -1) : db);
    }
  }
};

// An element is a sum of 5 products of magnitude at most 1. Each of the 5 operations loses at most
// a roundoff of 5, and the store loses one more.
constexpr std::int64_t kDepth = 5;
constexpr double kRoundoffs = kDepth * kDepth + 1;

OperandSpec operand(const Shape& sizes) { return {.sizes = sizes, .low = -1, .high = 1}; }

template <const char* kName>
OpEntry product_entry(const std::vector<OpExample>& examples) {
  return {.name = kName,
          .precision = Product<kName>::precision,
          .roundoffs = kRoundoffs,
          .examples = examples,
          .bounded_reference = matmul_reference};
}

template <class F>
OpExample example(const char* what, const Shape& a, const Shape& b, const Shape& result, F run) {
  return {what,
          {operand(a), operand(b)},
          [run](const std::vector<Tensor>& in) { return run(in[0], in[1]); },
          in_double(result, matmul_reference)};
}

}  // namespace

OpEntry matmul_entry() {
  return product_entry<kMatmul>({
      example("2-D by 2-D", {3, kDepth}, {kDepth, 4}, {3, 4}, matmul),
      example("2-D by vector", {3, kDepth}, {kDepth}, {3}, matmul),
      example("vector by 2-D", {kDepth}, {kDepth, 4}, {4}, matmul),
      example("batch by batch", {2, 3, kDepth}, {2, kDepth, 4}, {2, 3, 4}, matmul),
      example("batch by one", {2, 3, kDepth}, {kDepth, 4}, {2, 3, 4}, matmul),
      example("one by batch", {1, 3, kDepth}, {2, kDepth, 4}, {2, 3, 4}, matmul),
  });
}
OpEntry mm_entry() {
  return product_entry<kMm>({example("plain", {3, kDepth}, {kDepth, 4}, {3, 4}, mm)});
}
OpEntry bmm_entry() {
  return product_entry<kBmm>({example("plain", {2, 3, kDepth}, {2, kDepth, 4}, {2, 3, 4}, bmm)});
}
OpEntry mv_entry() {
  return product_entry<kMv>({example("plain", {3, kDepth}, {kDepth}, {3}, mv)});
}

}  // namespace detail

Tensor matmul(const Tensor& self, const Tensor& other) {
  return detail::apply(detail::Product<detail::kMatmul>{}, self, other);
}

Tensor mm(const Tensor& self, const Tensor& mat2) {
  if (self.dim() != 2 || mat2.dim() != 2) {
    detail::refuse_shapes("mm", "two matrices [m, k] and [k, n]", self.sizes(), mat2.sizes());
  }
  return detail::apply(detail::Product<detail::kMm>{}, self, mat2);
}

Tensor bmm(const Tensor& self, const Tensor& mat2) {
  if (self.dim() != 3 || mat2.dim() != 3 || self.size(0) != mat2.size(0)) {
    detail::refuse_shapes("bmm", "[b, m, k] and [b, k, n]", self.sizes(), mat2.sizes());
  }
  return detail::apply(detail::Product<detail::kBmm>{}, self, mat2);
}

Tensor mv(const Tensor& self, const Tensor& vec) {
  if (self.dim() != 2 || vec.dim() != 1) {
    detail::refuse_shapes("mv", "[m, k] and [k]", self.sizes(), vec.sizes());
  }
  return detail::apply(detail::Product<detail::kMv>{}, self, vec);
}

}  // namespace halfgrad
