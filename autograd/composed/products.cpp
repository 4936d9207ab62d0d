#include <halfgrad/autograd/composed/products.h>

#include <algorithm>
#include <cstddef>
#include <limits>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns the dimensions in [0, ndim), each at most once.
Dims wrapped_dims(const Dims& dims, int ndim) {
  Dims result;
  unsigned seen = 0;
  for (const std::int64_t dim : dims) {
    if (ndim == 0)
      detail::fail("tensordot",
                   "expected no dimensions of a 0-dimensional tensor, "
                   "got {}",
                   dims);
    const int d = wrap_dim(dim, ndim, "tensordot");
    if ((seen >> d & 1U) != 0) {
      detail::fail("tensordot", "expected each dimension once, got {}", dims);
    }
    seen |= 1U << d;
    result.push_back(d);
  }
  return result;
}

// The dimensions that `dims` does not list, in order.
Dims others(const Dims& dims, int ndim) {
  Dims result;
  for (int d = 0; d < ndim; ++d) {
    bool listed = false;
    for (const std::int64_t dim : dims) listed = listed || dim == d;
    if (!listed) result.push_back(d);
  }
  return result;
}

Dims joined(Dims first, const Dims& second) {
  for (const std::int64_t value : second) first.push_back(value);
  return first;
}

Shape sizes_along(const Tensor& x, const Dims& dims) {
  Shape sizes;
  for (const std::int64_t dim : dims) sizes.push_back(x.size(dim));
  return sizes;
}

void expect_fit(const char* op, const char* expected, bool fits, const Tensor& a, const Tensor& b) {
  if (!fits) detail::fail(op, "expected {}, got {} and {}", expected, a.sizes(), b.sizes());
}

// The order with the fewest multiplications for a chain of products, by dynamic programming (Cormen
// et al., "Introduction to Algorithms", "Matrix-chain multiplication"). cut_ has the place of the
// last product of each part of the chain.
class ProductOrder {
 public:
  explicit ProductOrder(const std::vector<Tensor>& matrices)
      : matrices_(matrices), count_(matrices.size()), cost_(count_ * count_), cut_(cost_.size()) {
    for (std::size_t length = 2; length <= count_; ++length) {
      for (std::size_t first = 0; first + length <= count_; ++first) choose(first, length);
    }
  }

  Tensor product(std::size_t first, std::size_t last) const {
    if (first == last) return matrices_[first];
    const std::size_t cut = cut_[first * count_ + last];
    return mm(product(first, cut), product(cut + 1, last));
  }

 private:
  // The cost of a chain is that of both parts and of their product, in multiplications.
  void choose(std::size_t first, std::size_t length) {
    const std::size_t last = first + length - 1;
    double& best = cost_[first * count_ + last];
    best = std::numeric_limits<double>::infinity();
    for (std::size_t cut = first; cut < last; ++cut) {
      const double own = static_cast<double>(matrices_[first].size(0)) *
                         static_cast<double>(matrices_[cut].size(1)) *
                         static_cast<double>(matrices_[last].size(1));
      const double cost = cost_[first * count_ + cut] + cost_[(cut + 1) * count_ + last] + own;
      if (cost < best) {
        best = cost;
        cut_[first * count_ + last] = cut;
      }
    }
  }

  const std::vector<Tensor>& matrices_;
  std::size_t count_;
  std::vector<double> cost_;
  std::vector<std::size_t> cut_;
};

// Refuses fractions as factors of integers.
void expect_factors(const char* op, const Tensor& self, const Tensor& a, Scalar beta,
                    Scalar alpha) {
  detail::expect_fitting_factor(op, "beta", beta, self, a);
  detail::expect_fitting_factor(op, "alpha", alpha, self, a);
}

}  // namespace

Tensor tensordot(const Tensor& self, const Tensor& other, const Dims& dims_self,
                 const Dims& dims_other) {
  const int ndim = static_cast<int>(self.dim()), other_ndim = static_cast<int>(other.dim());
  const Dims pairs = wrapped_dims(dims_self, ndim);
  const Dims other_pairs = wrapped_dims(dims_other, other_ndim);
  bool fits = pairs.size() == other_pairs.size();
  Tensor a = self, b = other;
  for (int i = 0; fits && i < pairs.size(); ++i) {
    const std::int64_t size = a.size(pairs[i]), other_size = b.size(other_pairs[i]);
    fits = size == other_size || size == 1 || other_size == 1;
    // Sums the other operand, where one has size 1.
    if (fits && size < other_size) b = sum(b, Dims(other_pairs[i]), true, b.dtype());
    if (fits && size > other_size) a = sum(a, Dims(pairs[i]), true, a.dtype());
  }
  if (!fits) {
    detail::fail("tensordot", "expected pairs of equal sizes, got dims {} of {} and {} of {}",
                 dims_self, self.sizes(), dims_other, other.sizes());
  }
  const Dims rows = others(pairs, ndim), columns = others(other_pairs, other_ndim);
  const Shape row_sizes = sizes_along(a, rows), column_sizes = sizes_along(b, columns);
  const std::int64_t depth = numel(sizes_along(a, pairs));
  const Tensor left = reshape(permute(a, joined(rows, pairs)), {numel(row_sizes), depth});
  const Tensor right =
      reshape(permute(b, joined(other_pairs, columns)), {depth, numel(column_sizes)});
  // Autocast converts operands of several dtypes to the widest, and leaves those of one dtype.
  const Tensor product = detail::composite("tensordot", Precision::widest_operand, mm, left, right);
  return reshape(product, joined(row_sizes, column_sizes));
}

Tensor inner(const Tensor& self, const Tensor& other) {
  if (self.dim() == 0 || other.dim() == 0) return self * other;
  expect_fit("inner", "last dimensions of one size", self.size(-1) == other.size(-1), self, other);
  return tensordot(self, other, -1, -1);
}

Tensor kron(const Tensor& self, const Tensor& other) {
  const int ndim = static_cast<int>(std::max(self.dim(), other.dim()));
  if (2 * ndim > kMaxDims) {
    detail::fail("kron", "expected at most 4 dimensions, got {} and {}", self.sizes(),
                 other.sizes());
  }
  Shape left, right, sizes;
  for (int d = 0; d < ndim; ++d) {
    const std::int64_t i = self.dim() - ndim + d, j = other.dim() - ndim + d;
    const std::int64_t size = i < 0 ? 1 : self.size(i), other_size = j < 0 ? 1 : other.size(j);
    left = joined(left, {size, 1});
    right = joined(right, {1, other_size});
    sizes.push_back(size * other_size);
  }
  return reshape(reshape(self, left) * reshape(other, right), sizes);
}

Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  expect_fit("addmv", "a matrix [n, m] and a vector [m]",
             mat.dim() == 2 && vec.dim() == 1 && mat.size(1) == vec.size(0), mat, vec);
  if (!expands_to(self.sizes(), {mat.size(0)})) {
    detail::fail("addmv", "expected self to broadcast to [{}], got {}", mat.size(0), self.sizes());
  }
  expect_factors("addmv", self, mat, beta, alpha);
  const Tensor column = self.dim() == 0 ? self : unsqueeze(self, 1);
  return squeeze(addmm(column, mat, unsqueeze(vec, 1), beta, alpha), 1);
}

Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  expect_fit("addr", "two vectors", vec1.dim() == 1 && vec2.dim() == 1, vec1, vec2);
  const Shape sizes{vec1.size(0), vec2.size(0)};
  if (!expands_to(self.sizes(), sizes)) {
    detail::fail("addr", "expected self to broadcast to {}, got {}", sizes, self.sizes());
  }
  expect_factors("addr", self, vec1, beta, alpha);
  if (alpha.to<double>() == 0) {  // NaN * 0 stays NaN here, unlike in addmm()
    const Tensor product = outer(vec1, vec2) * alpha;
    return beta.to<double>() == 0 ? product : self * beta + product;
  }
  return addmm(self, unsqueeze(vec1, 1), unsqueeze(vec2, 0), beta, alpha);
}

Tensor ger(const Tensor& self, const Tensor& vec2) { return outer(self, vec2); }

Tensor vdot(const Tensor& self, const Tensor& other) {
  return detail::with_op_name("vdot", "dot", [&] { return dot(self, other); });
}

// The sum over the batch joins the summed dimension: [n, b m] @ [b m, p].
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta,
              Scalar alpha) {
  const bool fits = batch1.dim() == 3 && batch2.dim() == 3 && batch1.size(0) == batch2.size(0) &&
                    batch1.size(2) == batch2.size(1);
  expect_fit("addbmm", "batches [b, n, m] and [b, m, p]", fits, batch1, batch2);
  const Shape sizes{batch1.size(1), batch2.size(2)};
  if (!expands_to(self.sizes(), sizes)) {
    detail::fail("addbmm", "expected self to broadcast to {}, got {}", sizes, self.sizes());
  }
  expect_factors("addbmm", self, batch1, beta, alpha);
  const std::int64_t depth = batch1.size(0) * batch1.size(2);
  return addmm(self, reshape(transpose(batch1, 0, 1), {sizes[0], depth}),
               reshape(batch2, {depth, sizes[1]}), beta, alpha);
}

Tensor chain_matmul(const std::vector<Tensor>& matrices) {
  if (matrices.empty()) detail::fail("chain_matmul", "expected one matrix or more, got none");
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    const Tensor& before = matrices[i == 0 ? 0 : i - 1];
    const bool fits = before.dim() == 2 && matrices[i].dim() == 2 &&
                      (i == 0 || before.size(1) == matrices[i].size(0));
    expect_fit("chain_matmul", "matrices [n, m] and [m, k]", fits, before, matrices[i]);
  }
  return ProductOrder(matrices).product(0, matrices.size() - 1);
}

Tensor matrix_power(const Tensor& self, std::int64_t n) {
  if (n < 0) detail::fail("matrix_power", "expected n >= 0, got {}", n);
  if (self.dim() < 2 || self.size(-1) != self.size(-2)) {
    detail::fail("matrix_power", "expected square matrices [..., m, m], got {}", self.sizes());
  }
  if (n == 0) {
    const Tensor one = eye(self.size(-1), {.dtype = self.dtype(), .device = self.device()});
    // Through where() self gets the gradient 0.
    return where(ones({}, {.dtype = kBool, .device = self.device()}), one, self);
  }
  Tensor result, power = self;
  for (std::int64_t rest = n; rest > 0; rest /= 2) {
    if (rest % 2 == 1) result = result.defined() ? matmul(result, power) : power;
    if (rest > 1) power = matmul(power, power);
  }
  return n == 1 ? clone(self) : result;
}

}  // namespace halfgrad
