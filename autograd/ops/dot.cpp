#include <array>

#include <algorithm>
#include <optional>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/product_reference.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

void expect_vectors(const char* op, const Tensor& a, const Tensor& b) {
  if (a.dim() != 1 || b.dim() != 1) {
    fail(op, "expected two vectors, got {} and {}", a.sizes(), b.sizes());
  }
}

// c = sum_i a_i b_i,  a and b [n], c []
struct Dot {
  static constexpr auto name = "dot";
  static constexpr auto precision = Precision::widest_operand;
  static constexpr unsigned saves = kSavesInputs;
  static constexpr std::array reads = {operands(1), operands(0)};

  Array forward(const Array& a, const Array& b) const {
    expect_one_dtype(name, a, b);
    const Array out = Array::empty({}, a.dtype(), a.device());
    product(1, a.unsqueeze(0), b.unsqueeze(1), 0, out.reshape({1, 1}));
    return out;
  }
  // da = dc b,  db = dc a
  void backward(const Backward<2>& node) const {
    if (node.needs(0)) node.set(0, node.grad() * node.input(1));
    if (node.needs(1)) node.set(1, node.grad() * node.input(0));
  }
};

}  // namespace

OpEntry dot_entry() {
  constexpr std::int64_t kLength = 5;
  const OperandSpec operand{.sizes = {kLength}, .low = -1, .high = 1};
  const auto run = [](const std::vector<Tensor>& in) { return dot(in[0], in[1]); };
  // The sum of 5 products of magnitude at most 1. Each of the 5 operations loses at most a roundoff
  // of 5, and the store loses one more.
  return {.name = Dot::name,
          .precision = Dot::precision,
          .roundoffs = kLength * kLength + 1,
          .examples = {{"plain", {operand, operand}, run, in_double({}, matmul_reference)}},
          .bounded_reference = matmul_reference};
}

OpEntry outer_entry() {
  const auto run = [](const std::vector<Tensor>& in) { return outer(in[0], in[1]); };
  const auto reference = [](const AnyArithmetic& a, const std::vector<Values>& in) {
    Elements out;
    for (const double x : in[0].data) {
      for (const double y : in[1].data) out.push_back(a.mul(a.number(x), a.number(y)));
    }
    return out;
  };
  return {
      .name = "outer",
      .precision = Precision::any,
      .examples = {{"plain", {{.sizes = {3}}, {.sizes = {4}}}, run, in_double({3, 4}, reference)}},
      .bounded_reference = reference};
}

}  // namespace detail

Tensor dot(const Tensor& self, const Tensor& tensor) {
  detail::expect_vectors("dot", self, tensor);
  if (self.size(0) != tensor.size(0)) {
    detail::fail("dot", "expected vectors of one length, got {} and {}", self.sizes(),
                 tensor.sizes());
  }
  return detail::apply(detail::Dot{}, self, tensor);
}

// C = a b^T,  a [m], b [n], C [m, n]
Tensor outer(const Tensor& self, const Tensor& vec2) {
  detail::expect_vectors("outer", self, vec2);
  return mul(unsqueeze(self, 1), unsqueeze(vec2, 0));
}

// (a x b)_i = a_{i+1} b_{i+2} - a_{i+2} b_{i+1}, with indices modulo 3.
Tensor cross(const Tensor& self, const Tensor& other, std::optional<std::int64_t> dim) {
  const Shape sizes = broadcast_shapes(self.sizes(), other.sizes(), "cross");
  const std::int64_t* const first = std::find(sizes.begin(), sizes.end(), 3);
  const std::int64_t along = dim.value_or(first - sizes.begin());
  if ((!dim && first == sizes.end()) || sizes[wrap_dim(along, sizes.size(), "cross")] != 3) {
    detail::fail("cross", "expected a dimension of size 3, got {} and {}", self.sizes(),
                 other.sizes());
  }
  const Tensor a = expand(self, sizes), b = expand(other, sizes);
  return roll(a, -1, along) * roll(b, -2, along) - roll(a, -2, along) * roll(b, -1, along);
}

}  // namespace halfgrad
