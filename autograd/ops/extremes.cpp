#include <algorithm>
#include <limits>

#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/rows_entry.h>
#include <halfgrad/core/math.h>
#include <halfgrad/core/reduce.h>

namespace halfgrad {
namespace detail {
namespace {

template <bool kMax>
struct ExtremeReduction {
  static constexpr bool integers = true;

  template <class T>
  static T identity() {
    using Limits = std::numeric_limits<scalar_t<T>>;
    const auto top = Limits::has_infinity ? Limits::infinity() : Limits::max();
    const auto bottom = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return T(kMax ? bottom : top);
  }
  template <class T>
  T map(T x) const {
    return x;
  }
  template <class T>
  T combine(T a, T b) const {
    return kMax ? math::maximum(a, b) : math::minimum(a, b);
  }
  template <class T>
  T finish(T total, std::int64_t) const {
    return total;
  }
};

void check_not_empty(const Array& x, unsigned mask, const char* op) {
  for (int d = 0; d < x.ndim(); ++d) {
    if ((mask >> static_cast<unsigned>(d) & 1U) == 0 || x.sizes()[d] != 0) continue;
    throw std::invalid_argument(std::string(op) +
                                ": expected at least one element to choose from, got shape " +
                                to_string(x.sizes()));
  }
}

// y = max_i x_i;  dx_i = dy [x_i = y] / (number of x_j = y): ties share the gradient.
template <bool kMax>
struct Extreme {
  static constexpr auto name = kMax ? "amax" : "amin";
  static constexpr auto precision = Precision::any;
  static constexpr unsigned saves = kSavesInputs | kSavesOutput;
  unsigned mask;
  bool keepdim;

  Array forward(const Array& x) const {
    check_not_empty(x, mask, name);
    Array out = Array::empty(reduced_sizes(x.sizes(), mask, keepdim), x.dtype(), x.device());
    reduce(ExtremeReduction<kMax>{}, x.dtype(), out, x, mask);
    return out;
  }
  void backward(const Backward<1>& b) const {
    const Tensor x = b.input(0);
    const Shape kept = reduced_sizes(x.sizes(), mask, true);
    const Tensor chosen = eq(x, reshape(b.output(), kept)).to(x.dtype());
    const Tensor shares = chosen / sum_to_size(chosen, kept);
    b.set(0, reshape(b.grad(), kept) * shares);
  }
};

// The first index of a row's largest (smallest) element; NaN counts as larger (smaller) than all.
template <bool kMax, class T>
std::int64_t first_extreme(const T* row, std::int64_t n) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < n && row[best] == row[best]; ++i) {
    if ((kMax ? row[i] > row[best] : row[i] < row[best]) || row[i] != row[i]) best = i;
  }
  return best;
}

template <bool kMax>
struct ExtremeIndex {
  static constexpr auto name = kMax ? "argmax" : "argmin";
  static constexpr auto precision = Precision::any;
  int dim;
  bool keepdim;

  Array forward(const Array& x) const {
    const unsigned mask = 1U << static_cast<unsigned>(dim);
    check_not_empty(x, mask, name);
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
    const std::int64_t count = out.numel();
    // transpose(dim, -1) put the last dimension at `dim`: so it is with the indices.
    Shape order = rows.sizes();
    order[order.size() - 1] = 1;
    const Array found = Array::empty(order, DType::i64, out.device());
    for (std::int64_t i = 0; i < count; ++i) {
      found.data_as<std::int64_t>()[i] = first_extreme<kMax>(rows.data_as<T>() + i * n, n);
    }
    out.copy_(found.transpose(dim, -1).reshape(out.sizes()));
  }
};

template <bool kMax>
Tensor extreme(const Tensor& self, const Shape& dims, bool keepdim) {
  const unsigned mask = dims_mask(dims, static_cast<int>(self.dim()), Extreme<kMax>::name);
  return apply(Extreme<kMax>{mask, keepdim}, self);
}

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
std::tuple<Tensor, Tensor> extreme_along(const Tensor& self, std::int64_t dim, bool keepdim) {
  if (self.dim() == 0) return {clone(self), extreme_index<kMax>(self, dim, keepdim)};
  const Tensor index = extreme_index<kMax>(self, dim, true);
  const Tensor value = gather(self, dim, index);
  if (keepdim) return {value, index};
  return {squeeze(value, dim), squeeze(index, dim)};
}

}  // namespace

namespace {

template <bool kMax>
OpEntry extreme_entry() {
  OpEntry entry{.name = Extreme<kMax>::name, .precision = Extreme<kMax>::precision, .examples = {}};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) {
        return extreme<kMax>(x, dims, keepdim);
      },
      [](const std::vector<double>& row) {
        return std::vector{kMax ? *std::max_element(row.begin(), row.end())
                                : *std::min_element(row.begin(), row.end())};
      });
  return entry;
}

template <bool kMax>
OpEntry extreme_index_entry() {
  OpEntry entry{.name = ExtremeIndex<kMax>::name,
                .precision = ExtremeIndex<kMax>::precision,
                .differentiable = false,
                .examples = {}};
  add_reduction_examples(
      entry, "",
      [](const Tensor& x, const Shape& dims, bool keepdim) {
        if (dims.empty()) return extreme_index<kMax>(x, std::nullopt, keepdim);
        return extreme_index<kMax>(x, dims[0], keepdim);
      },
      [](const std::vector<double>& row) {
        const auto best = kMax ? std::max_element(row.begin(), row.end())
                               : std::min_element(row.begin(), row.end());
        return std::vector{static_cast<double>(best - row.begin())};
      },
      {.sizes = {}, .differentiable = false}, {{}, {0}, {1}, {-1}});
  return entry;
}

}  // namespace

OpEntry amax_entry() { return extreme_entry<true>(); }
OpEntry amin_entry() { return extreme_entry<false>(); }
OpEntry argmax_entry() { return extreme_index_entry<true>(); }
OpEntry argmin_entry() { return extreme_index_entry<false>(); }

}  // namespace detail

Tensor max(const Tensor& self) { return detail::extreme<true>(self, {}, false); }
Tensor min(const Tensor& self) { return detail::extreme<false>(self, {}, false); }
std::tuple<Tensor, Tensor> max(const Tensor& self, std::int64_t dim, bool keepdim) {
  return detail::extreme_along<true>(self, dim, keepdim);
}
std::tuple<Tensor, Tensor> min(const Tensor& self, std::int64_t dim, bool keepdim) {
  return detail::extreme_along<false>(self, dim, keepdim);
}
Tensor amax(const Tensor& self, const Shape& dim, bool keepdim) {
  return detail::extreme<true>(self, dim, keepdim);
}
Tensor amin(const Tensor& self, const Shape& dim, bool keepdim) {
  return detail::extreme<false>(self, dim, keepdim);
}
Tensor argmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return detail::extreme_index<true>(self, dim, keepdim);
}
Tensor argmin(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  return detail::extreme_index<false>(self, dim, keepdim);
}

}  // namespace halfgrad
