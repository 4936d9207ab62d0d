#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/norms.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/norm_reductions.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/core/engines/multi_tensor_reduce.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/math.h>

namespace halfgrad {
namespace detail {
namespace {

template <class F>
void with_reduction(double p, const F& run) {
  if (p == 2) {
    run(Squares{});
  } else if (p == 1) {
    run(Magnitudes{});
  } else if (p == 0) {
    run(NonZeros{});
  } else if (std::isinf(p)) {
    p > 0 ? run(ExtremeMagnitude<true>{}) : run(ExtremeMagnitude<false>{});
  } else {
    run(Powers(p));
  }
}

}  // namespace

void store_norm(const Array& out, const Array& x, double p, unsigned mask) {
  with_reduction(p, [&](const auto& r) { reduce(r, x.dtype(), out, x, mask); });
}

void store_norms(const Array& out, std::span<const Array> xs, double p) {
  with_reduction(p, [&](const auto& r) { multi_tensor_reduce(r, xs, out); });
}

namespace {

Tensor sign_of(const Tensor& x) {
  return (x > Scalar(0)).to(x.dtype()) - (x < Scalar(0)).to(x.dtype());
}

// y = (sum_i |x_i|^p)^(1/p) over the reduced dimensions
struct Norm {
  static constexpr auto name = "norm";
  static constexpr auto precision = Precision::wide_accumulate;
  static constexpr unsigned saves = operands(0) | kSavesOutput;
  double p;
  unsigned mask;
  bool keepdim;

  Array forward(const Array& x) const {
    if (!is_floating_point(x.dtype())) {
      fail("norm", "expected a floating point tensor, got {}", x.dtype());
    }
    Array y = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), x.dtype(), x.device());
    if (x.numel() == 0 && y.numel() > 0 && (p < 0 || std::isinf(p))) {
      fail("norm", "expected one element or more for p = {}, got shape {}", p, x.sizes());
    }
    store_norm(y, x, p, mask);
    return y;
  }

  // dx_i = dy sign(x_i) |x_i|^(p-1) / y^(p-1), and 0 where y or x_i is 0
  void backward(const Backward<1>& b) const {
    const Tensor x = b.input(0);
    const Shape kept = reduced_sizes(x.sizes(), mask, true);
    b.set(0, gradient(reshape(b.grad(), kept), x, reshape(b.output(), kept), kept));
  }

 private:
  Tensor gradient(const Tensor& dy, const Tensor& x, const Tensor& y, const Shape& kept) const {
    if (p == 0) return dy * (x * Scalar(0));
    if (p == 1) return dy * sign_of(x);
    if (std::isinf(p)) {
      // Counts ties in float32 at least: float16 has no odd integers above 2048.
      const Tensor chosen = (abs(x) == y).to(promote_types(x.dtype(), kFloat32));
      return dy * sign_of(x) * chosen / sum_to_size(chosen, kept);
    }
    const Tensor divisor = masked_fill(y, y == Scalar(0), 1);
    if (p == 2) return dy * (x / divisor);
    const Tensor ratio = abs(x) / divisor;
    const Tensor is_zero = x == Scalar(0);
    const Tensor dx = dy * sign_of(x) * pow(masked_fill(ratio, is_zero, 1), Scalar(p - 1));
    return p > 0 ? dx : masked_fill(dx, y == Scalar(0), 0);  // p < 0: one x_i = 0 makes y = 0
  }
};

// (sum_i |x_i|^p)^(1/p); for p = 0 the count of elements that are not 0, for p = inf and -inf the
// largest and the smallest magnitude
BoundedRow norm_reference(double p) {
  return [p](const AnyArithmetic& a, Elements x) {
    if (p == 2) return Elements{a.sqrt(a.dot(x, x))};
    if (p == 0) {
      const auto zeros = std::count_if(x.begin(), x.end(),
                                       [&](const Bounded& each) { return a.value(each) == 0; });
      return Elements{a.number(static_cast<double>(x.size()) - static_cast<double>(zeros))};
    }
    for (Bounded& each : x) each = a.abs(each);
    if (p == 1) return Elements{a.sum(x)};
    if (std::isinf(p)) {
      if (p > 0) return Elements{a.max(x)};
      for (Bounded& each : x) each = a.neg(each);
      return Elements{a.neg(a.max(x))};
    }
    for (Bounded& each : x) each = a.pow(each, a.number(p));
    return Elements{a.pow(a.sum(x), a.number(1 / p))};
  };
}

}  // namespace

OpEntry norm_entry() {
  OpEntry entry{.name = Norm::name,
                .precision = Norm::precision,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(norm_reference(2))};
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double p : {2.0, 1.0, 3.0, 0.0, kInf, -kInf}) {
    add_reduction_examples(
        entry, "p " + std::to_string(p) + ", ",
        [p](const Tensor& x, const Shape& dims, bool keepdim) { return norm(x, p, dims, keepdim); },
        in_double(norm_reference(p)));
  }
  return entry;
}

}  // namespace detail

Tensor norm(const Tensor& self, Scalar p, const Shape& dim, bool keepdim) {
  const unsigned mask = detail::dims_mask(dim, static_cast<int>(self.dim()), "norm");
  return detail::apply(detail::Norm{p.to<double>(), mask, keepdim}, self);
}
Tensor norm(const Tensor& self, Scalar p) { return norm(self, p, {}, false); }

}  // namespace halfgrad
