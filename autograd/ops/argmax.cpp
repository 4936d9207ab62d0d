#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/op_table/reference.h>
#include <halfgrad/autograd/op_table/rows_entry.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/reduced_dims.h>
#include <halfgrad/core/engines/parallel.h>

namespace halfgrad {
namespace detail {
namespace {

constexpr std::int64_t kSpan = 256;

// y = the first i with x_i = max_j x_j (argmin: min_j x_j) along `dim`, or the first i with x_i NaN
//
// One pass finds that index in each span of kSpan candidates of a row. The candidates are all
// elements in the first pass, and the indices that the previous pass found in a later one.
template <bool kMax, class T>
struct FirstExtreme {
  const T* rows;
  std::int64_t n;
  const std::int64_t* candidates;  // [rows, count]; null: 0, 1, ... count - 1
  std::int64_t count, spans;
  std::int64_t* found;  // [rows, spans]

  HG_HD void operator()(std::int64_t row, std::int64_t span) const {
    const std::int64_t begin = span * kSpan;
    const std::int64_t end = begin + kSpan < count ? begin + kSpan : count;
    std::int64_t best = candidate(row, begin);
    T extreme = rows[row * n + best];
    for (std::int64_t i = begin + 1; i < end && extreme == extreme; ++i) {
      const std::int64_t at = candidate(row, i);
      const T x = rows[row * n + at];
      if ((kMax ? x > extreme : x < extreme) || x != x) {
        best = at;
        extreme = x;
      }
    }
    found[row * spans + span] = best;
  }

 private:
  HG_HD std::int64_t candidate(std::int64_t row, std::int64_t i) const {
    return candidates != nullptr ? candidates[row * count + i] : i;
  }
};

template <bool kMax>
struct ExtremeIndex {
  static constexpr auto name = kMax ? "argmax" : "argmin";
  static constexpr auto precision = Precision::any;
  int dim;
  bool keepdim;

  Array forward(const Array& x) const {
    const unsigned mask = 1U << static_cast<unsigned>(dim);
    expect_elements(x, mask, name);
    Array out = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), DType::i64, x.device());
    const Array rows = x.transpose(dim, -1).contiguous();
    visit(x.dtype(), [&](auto tag) {
      using Stored = typename decltype(tag)::type;
      find(rows.to(dtype_of<compute_t<Stored>>()), compute_t<Stored>{}, out);
    });
    return out;
  }

 private:
  template <class T>
  void find(const Array& rows, T, const Array& out) const {
    const std::int64_t n = rows.sizes().back();
    const std::int64_t row_count = out.numel();
    if (row_count == 0) return;
    Array candidates;
    std::int64_t count = n;
    do {
      const std::int64_t spans = (count + kSpan - 1) / kSpan;
      const Array found = Array::empty({row_count, spans}, DType::i64, out.device());
      const FirstExtreme<kMax, T> pass{
          rows.data_as<T>(),
          n,
          candidates.defined() ? candidates.data_as<std::int64_t>() : nullptr,
          count,
          spans,
          found.data_as<std::int64_t>()};
      parallel_for_each(name, out.device(), row_count, spans, pass);
      candidates = found;
      count = spans;
    } while (count > 1);
    // `rows` is x with dimensions `dim` and -1 exchanged, so the indices are exchanged back.
    Shape order = rows.sizes();
    order[order.size() - 1] = 1;
    out.copy_(candidates.reshape(order).transpose(dim, -1).reshape(out.sizes()));
  }
};

template <bool kMax>
Tensor extreme_index(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  const int ndim = static_cast<int>(self.dim());
  if (dim && ndim > 0) {
    return apply(ExtremeIndex<kMax>{wrap_dim(*dim, ndim, ExtremeIndex<kMax>::name), keepdim}, self);
  }
  if (dim) wrap_dim(*dim, ndim, ExtremeIndex<kMax>::name);
  const Tensor index = apply(ExtremeIndex<kMax>{0, false}, reshape(self, {-1}));
  return keepdim ? reshape(index, reduced_sizes(self.sizes(), ~0U, true)) : index;
}

template <bool kMax>
OpEntry extreme_index_entry() {
  OpEntry entry{.name = ExtremeIndex<kMax>::name,
                .precision = ExtremeIndex<kMax>::precision,
                .roundoffs = 0,
                .differentiable = false,
                .examples = {}};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) {
        if (dims.empty()) return extreme_index<kMax>(x, std::nullopt, keepdim);
        return extreme_index<kMax>(x, dims[0], keepdim);
      },
      [](const std::vector<double>& row) {
        return std::vector{static_cast<double>(place_of_extreme(row, kMax))};
      },
      {.sizes = {}, .differentiable = false}, {{}, {0}, {1}, {-1}});
  return entry;
}

}  // namespace

OpEntry argmax_entry() { return extreme_index_entry<true>(); }
OpEntry argmin_entry() { return extreme_index_entry<false>(); }

}  // namespace detail

Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return detail::extreme_index<true>(self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return detail::extreme_index<false>(self, dim, keepdim);
}

}  // namespace halfgrad
