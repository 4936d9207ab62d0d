#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/testing/bounded_ops/recorded.h>

/// Matrix products.
namespace halfgrad::testing {
namespace {

using detail::Inputs;
using detail::Recorder;
using halfgrad::detail::fail;

BoundedArray transposed(const BoundedArray& x) { return x.transpose(-2, -1); }

/// a [..., m, k] b [..., k, n] of equal batches, plus `start`, if any.
Elements products(const BoundedArray& a, const BoundedArray& b, const Elements* start) {
  const std::int64_t m = a.size(-2), k = a.size(-1), n = b.size(-1);
  std::int64_t batch = 1;
  for (int d = 0; d + 2 < a.dim(); ++d) batch *= a.sizes()[d];
  const BoundedArray columns = transposed(b);
  const auto row_of = [k](const BoundedArray& x, std::int64_t i) {
    const auto first = x.elements().begin() + i * k;
    return Elements(first, first + k);
  };
  Elements out;
  for (std::int64_t i = 0; i < batch; ++i) {
    std::vector<Elements> right;
    for (std::int64_t column = 0; column < n; ++column) {
      right.push_back(row_of(columns, i * n + column));
    }
    for (std::int64_t row = 0; row < m; ++row) {
      const Elements left = row_of(a, i * m + row);
      for (const Elements& column : right) {
        out.push_back(start == nullptr ? a.math().dot(left, column)
                                       : a.math().dot_from((*start)[out.size()], left, column));
      }
    }
  }
  return out;
}

/// Matrices or batches of matrices.
BoundedArray product(const BoundedArray& a, const BoundedArray& b) {
  if (a.size(-1) != b.size(-2)) {
    fail("matmul", "expected [..., m, k] and [..., k, n], got {} and {}", a.sizes(), b.sizes());
  }
  const auto batch_of = [](const BoundedArray& x) {
    return Shape(x.sizes().begin(), static_cast<std::size_t>(x.dim() - 2));
  };
  Shape left = broadcast_shapes(batch_of(a), batch_of(b), "matmul"), right = left, sizes = left;
  for (const std::int64_t size : {a.size(-2), a.size(-1)}) left.push_back(size);
  for (const std::int64_t size : {b.size(-2), b.size(-1)}) right.push_back(size);
  for (const std::int64_t size : {a.size(-2), b.size(-1)}) sizes.push_back(size);
  const BoundedArray x = expand(a, left), y = expand(b, right);
  BoundedArray result = Recorder::recorded(
      {a.arithmetic(), sizes, products(x, y, nullptr)}, {x, y},
      [](const Inputs& in, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{matmul(dy, transposed(in[1])), matmul(transposed(in[0]), dy)};
      });
  return Recorder::product(std::move(result), x, y);
}

}  // namespace

BoundedArray detail::product_from(const BoundedArray& start, const BoundedArray& product) {
  const detail::BoundedFactors& of = *Recorder::factors(product);
  return Recorder::recorded(
      {start.arithmetic(), product.sizes(), products(of.a, of.b, &start.elements())},
      {start, product}, [](const Inputs&, const BoundedArray&, const BoundedArray& dy) {
        return Inputs{dy, dy};
      });
}

BoundedArray matmul(const BoundedArray& a, const BoundedArray& b) {
  detail::expect_defined("matmul", a);
  detail::expect_defined("matmul", b);
  if (a.dim() == 0 || b.dim() == 0) {
    fail("matmul", "expected vectors or matrices, got {} and {}", a.sizes(), b.sizes());
  }
  if (a.dim() > 1 && b.dim() > 1) return product(a, b);
  const BoundedArray y =
      product(a.dim() == 1 ? unsqueeze(a, 0) : a, b.dim() == 1 ? unsqueeze(b, 1) : b);
  Shape sizes = y.sizes();
  if (b.dim() == 1) sizes.erase(sizes.size() - 1);
  if (a.dim() == 1) sizes.erase(sizes.size() - (b.dim() == 1 ? 1 : 2));
  return y.reshape(sizes);
}

BoundedArray linear(const BoundedArray& x, const BoundedArray& weight, const BoundedArray& bias) {
  detail::expect_defined("linear", weight);
  const BoundedArray y = matmul(x, weight.t());
  return bias.defined() ? y + bias : y;
}

}  // namespace halfgrad::testing
