#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/engines/rows.h>

namespace halfgrad {
namespace detail {
namespace {

struct ProductReduction {
  static constexpr bool integers = true;

  template <class T>
  HG_HD static T identity() {
    return T(1);
  }
  template <class T>
  HG_HD T map(T x) const {
    return x;
  }
  template <class T>
  HG_HD T combine(T a, T b) const {
    return a * b;
  }
  template <class T>
  HG_HD T finish(T total, std::int64_t) const {
    return total;
  }
};

// dx_i = dy (x_0 ... x_(i-1)) (x_(i+1) ... x_(n-1))
// Multiplies instead of dividing y by x_i, which may be 0.
struct ProductGradientRow {
  template <class Team, class T>
  HG_HD void operator()(Team& team, Row<const T> dy, Row<const T> x, Row<T> dx) const {
    team.once([&] {
      T product = dy(std::int64_t{0});
      for (std::int64_t i = 0; i < x.size(); ++i) {
        dx.set(i, product);
        product *= x(i);
      }
      product = T(1);
      for (std::int64_t i = x.size() - 1; i >= 0; --i) {
        dx.set(i, dx(i) * product);
        product *= x(i);
      }
    });
  }
};

// y = x_0 x_1 ... x_(n-1) along `dim`
struct Prod {
  static constexpr auto name = "prod";
  static constexpr auto precision = Precision::wide_accumulate;
  static constexpr unsigned saves = operands(0);
  int dim;
  bool keepdim;
  std::optional<DType> dtype;

  Array forward(const Array& x) const {
    const DType result = dtype.value_or(is_floating_point(x.dtype()) ? x.dtype() : DType::i64);
    const bool floats = is_floating_point(result) && is_floating_point(x.dtype());
    const unsigned mask = 1U << static_cast<unsigned>(dim);
    Array y = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), result, x.device());
    const Array factors = result == DType::boolean ? x.to(result) : x;
    reduce(ProductReduction{}, floats ? promote_types(result, x.dtype()) : result, y, factors,
           mask);
    return y;
  }
  // dx_i = dy (product of all x_j with j != i)
  void backward(const Backward<1>& b) const {
    const Tensor x = b.input(0);
    const Tensor dy = keepdim ? b.grad() : unsqueeze(b.grad(), dim);
    b.set(0, GradMode::is_enabled() ? dy * product_of_others(x) : fused(dy.array(), x.array()));
  }

 private:
  Tensor fused(const Array& dy, const Array& x) const {
    Array dx = Array::empty(x.sizes(), x.dtype(), x.device());
    if (dx.numel() == 0) return Tensor(dx);
    const Array rows = x.transpose(dim, -1);
    const Array grads = dy.transpose(dim, -1);
    const Array out = dx.transpose(dim, -1);
    parallel_rows(ProductGradientRow{}, x.dtype(), x.numel() / rows.sizes().back(),
                  std::array<const Array*, 2>{&grads, &rows}, std::array<const Array*, 1>{&out});
    return Tensor(dx);
  }
  // Repeats x as the rows of a square matrix with 1 on its diagonal, and multiplies along each row.
  // The result is differentiable any number of times.
  Tensor product_of_others(const Tensor& x) const {
    const std::int64_t n = x.size(dim);
    const Tensor rows = unsqueeze(transpose(x, dim, -1), -2);
    Shape square = rows.sizes();
    square[square.size() - 2] = n;
    const Tensor diagonal = eye(n, {.dtype = DType::boolean, .device = x.device()});
    return transpose(prod(masked_fill(expand(rows, square), diagonal, 1), -1), dim, -1);
  }
};

}  // namespace

OpEntry prod_entry() {
  const auto f = [](const AnyArithmetic& a, const Elements& row) { return Elements{a.prod(row)}; };
  OpEntry entry{.name = Prod::name,
                .precision = Prod::precision,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(f)};
  add_reduction_examples(entry, "",
                         [](const Tensor& x, const Shape& dims, bool keepdim) {
                           return dims.empty() ? prod(x) : prod(x, dims[0], keepdim);
                         },
                         in_double(f), {.sizes = {}, .low = -1.2, .high = 1.2},
                         {{}, {0}, {1}, {-1}});
  return entry;
}

}  // namespace detail

Tensor prod(const Tensor& self, std::int64_t dim, bool keepdim, std::optional<DType> dtype) {
  if (self.dim() == 0) {
    wrap_dim(dim, 0, "prod");
    return detail::unsafe_view(prod(reshape(self, {1}), 0, false, dtype), {});
  }
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "prod");
  return detail::apply(detail::Prod{d, keepdim, dtype}, self);
}
Tensor prod(const Tensor& self, std::optional<DType> dtype) {
  return prod(reshape(self, {self.numel()}), 0, false, dtype);
}

}  // namespace halfgrad
