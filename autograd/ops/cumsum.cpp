#include <cstdint>
#include <optional>
#include <type_traits>

#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/indices.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/numbers/convert.h>

namespace halfgrad {
namespace detail {
namespace {

// Adds the elements of a row one by one, so no partial sum depends on threads or devices. A GPU has
// one thread for each row, so a few long rows leave it idle. On the CPU, kWidth adjacent rows are
// summed together in SIMD registers, which reads memory in order.
template <class T, int kWidth>
struct RunningSums {
  const T* x;
  T* sums;
  std::int64_t n, inner;
  bool from_end;

  HG_HD void operator()(std::int64_t slab, std::int64_t block) const {
    // Integers wrap around.
    using Sum = std::conditional_t<std::is_floating_point_v<compute_t<T>>, double, std::uint64_t>;
    const std::int64_t first = block * kWidth;
    const int width = inner - first < kWidth ? static_cast<int>(inner - first) : kWidth;
    Sum sum[kWidth] = {};
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t at = (slab * n + (from_end ? n - 1 - k : k)) * inner + first;
      for (int c = 0; c < width; ++c) {
        sum[c] += convert<Sum>(x[at + c]);
        sums[at + c] = convert<T>(sum[c]);
      }
    }
  }
};

// y_i = x_0 + x_1 + ... + x_i along `dim`; from the end: y_i = x_i + x_(i+1) + ... + x_(n-1)
struct CumSum {
  static constexpr auto name = "cumsum";
  static constexpr auto precision = Precision::wide_accumulate;
  static constexpr unsigned saves = kSavesNothing;
  int dim;
  std::optional<DType> dtype = {};
  bool from_end = false;

  Array forward(const Array& self) const {
    const DType floats_or_i64 = is_floating_point(self.dtype()) ? self.dtype() : DType::i64;
    const Array x = self.to(dtype.value_or(floats_or_i64)).contiguous();
    Array sums = Array::empty(x.sizes(), x.dtype(), x.device());
    if (sums.numel() == 0) return sums;
    const Slabs slabs(x.sizes(), dim);
    const auto run = [&]<class T, int kWidth>() {
      const RunningSums<T, kWidth> f{x.data_as<T>(), sums.data_as<T>(), slabs.size, slabs.inner,
                                     from_end};
      const std::int64_t blocks = (slabs.inner + kWidth - 1) / kWidth;
      parallel_for_each(name, x.device(), slabs.outer, blocks, f, slabs.size * kWidth);
    };
    visit(x.dtype(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      const bool single = slabs.inner == 1 || x.device().is_cuda();
      single ? run.template operator()<T, 1>() : run.template operator()<T, 32>();
    });
    return sums;
  }
  // dx_j = dy_j + dy_(j+1) + ... + dy_(n-1): the cumulative sum of dy from the other end
  void backward(const Backward<1>& b) const {
    b.set(0, apply(CumSum{dim, {}, !from_end}, b.grad()));
  }
};

}  // namespace

OpEntry cumsum_entry() {
  const auto f = [](const AnyArithmetic& a, const Elements& row) { return a.partial_sums(row); };
  OpEntry entry{.name = CumSum::name,
                .precision = CumSum::precision,
                .roundoffs = 16,
                .examples = {},
                .bounded_reference = of_rows(f)};
  add_row_examples(
      entry, [](const Tensor& x, std::int64_t dim) { return cumsum(x, dim); }, in_double(f));
  return entry;
}

}  // namespace detail

Tensor cumsum(const Tensor& self, std::int64_t dim, std::optional<DType> dtype) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "cumsum");
  return detail::apply(detail::CumSum{d, dtype}, self);
}

}  // namespace halfgrad
