#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <halfgrad/autograd/composed/scans.h>
#include <halfgrad/autograd/composed/scatter_places.h>
#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/autograd/indexing.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

using autograd::AutogradContext;
using autograd::variable_list;

/// Values, and the place of each: both [n].
struct Placed {
  Tensor places;
  Tensor values;
};

// Combines all values of one place, in pairs of neighbours: log2(n) rounds for n values of a place.
// Returns one value for each place that occurs.
template <class Combine>
Placed combined(const Tensor& places, const Tensor& values, const Combine& combine) {
  const auto [sorted, order] = places.sort(/*stable=*/true, 0, false);
  Placed now{sorted, index_select(values, 0, order)};
  const std::int64_t count = sorted.numel();
  const Tensor index = arange(count, {.device = sorted.device()});
  const Tensor is_first = cat({ones({1}, {.dtype = kBool, .device = sorted.device()}),
                               slice(sorted, 0, 1, count) != slice(sorted, 0, 0, count - 1)});
  Tensor rank = index - std::get<0>(cummax(where(is_first, index, 0), 0));
  while (amax(rank).item<std::int64_t>() > 0) {
    const std::int64_t n = rank.numel();
    const Tensor kept = flatten((rank % 2 == 0).nonzero());
    const Tensor next = clamp_max(kept + 1, n - 1);
    const Tensor has_next = index_select(rank, 0, next) == index_select(rank, 0, kept) + 1;
    const Tensor left = index_select(now.values, 0, kept);
    const Tensor right = index_select(now.values, 0, next);
    now = {index_select(now.places, 0, kept), where(has_next, combine(left, right), left)};
    rank = floor_divide(index_select(rank, 0, kept), 2);
  }
  return now;
}

struct Places {
  int dim;
  Tensor index;      // as given, with one dimension at least
  Tensor positions;  // in the flattened self: int64 [n]
  Tensor values;     // taken from src: [n]
};

// self_flat[place] = combine(self_flat[place], its values), or those values alone
template <class Combine>
Tensor reduced(const Tensor& self, const Places& at, bool include_self, const Combine& combine) {
  const Placed result = combined(at.positions, at.values, combine);
  Tensor flat = clone(flatten(self));
  const Tensor written =
      include_self ? combine(index_select(flat, 0, result.places), result.values) : result.values;
  flat.index_put_({result.places}, written);
  return detail::unsafe_view(flat, self.sizes());
}

// The number of values for each element of self: int64, of self's shape.
Tensor counts_of(const Tensor& self, const Places& at) {
  const Tensor none = zeros({self.numel()}, at.positions.options());
  return reshape(scatter_add(none, 0, at.positions, ones_like(at.positions)), self.sizes());
}

// The largest or smallest values. All elements that are equal to the result share its gradient.
struct Extremum : autograd::Function<Extremum> {
  static Tensor forward(AutogradContext* context, const Tensor& self, const Tensor& values,
                        const Places& at, bool is_max, bool include_self) {
    const auto combine = [is_max](const Tensor& a, const Tensor& b) {
      return is_max ? maximum(a, b) : minimum(a, b);
    };
    Tensor result = reduced(self, at, include_self, combine);
    const Tensor touched = counts_of(self, at) > 0;
    const Tensor chosen = flatten(self == result);
    const Tensor takes_part = include_self ? chosen : chosen & ~flatten(touched);
    const Tensor is_result = values == index_select(flatten(result), 0, at.positions);
    const Tensor shares = scatter_add(takes_part.to(kLong), 0, at.positions, is_result.to(kLong));
    context->save_for_backward({takes_part, is_result, shares, at.positions});
    return result;
  }
  static variable_list backward(AutogradContext* context, const variable_list& dy) {
    const variable_list saved = context->get_saved_variables();
    const Tensor share = flatten(dy[0]) / clamp_min(saved[2], 1);
    return {reshape(masked_fill(share, ~saved[0], 0), dy[0].sizes()),
            masked_fill(index_select(share, 0, saved[3]), ~saved[1], 0)};
  }
};

Tensor sums(const Tensor& self, const Places& at, bool include_self) {
  const Tensor base = include_self ? self : masked_fill(self, counts_of(self, at) > 0, 0);
  const Tensor flat = scatter_add(flatten(base), 0, at.positions, at.values);
  return detail::unsafe_view(flat, self.sizes());
}

Tensor means(const Tensor& self, const Places& at, bool include_self) {
  const Tensor counts = counts_of(self, at);
  const Tensor n = include_self ? counts + 1 : clamp_min(counts, 1);
  const Tensor total = sums(self, at, include_self);
  return self.is_floating_point() ? total / n.to(self.dtype())
                                  : floor_divide(total, n).to(self.dtype());
}

}  // namespace

Tensor scatter_reduce(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
                      std::string_view reduce, bool include_self) {
  const auto is = [&](std::string_view name) { return reduce == name; };
  if (!is("sum") && !is("prod") && !is("mean") && !is("amax") && !is("amin")) {
    detail::fail("scatter_reduce", "expected sum, prod, mean, amax or amin, got {}",
                 std::string(reduce));
  }
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), "scatter_reduce");
  if (self.dtype() != src.dtype()) {
    detail::fail("scatter_reduce", "expected self and src of one dtype, got {} and {}",
                 self.dtype(), src.dtype());
  }
  if (index.numel() == 0) return clone(self);
  const Places at{d, index, detail::flat_positions(self, d, index),
                  detail::scattered_values(index, src)};
  if (is("sum")) return sums(self, at, include_self);
  if (is("mean")) return means(self, at, include_self);
  if (is("amax") || is("amin")) {
    return Extremum::apply(self, at.values, at, is("amax"), include_self);
  }
  return reduced(self, at, include_self, [](const Tensor& a, const Tensor& b) { return a * b; });
}

Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, const Tensor& src,
               std::string_view reduce) {
  if (reduce != "add" && reduce != "multiply") {
    detail::fail("scatter", "expected add or multiply, got {}", std::string(reduce));
  }
  return scatter_reduce(self, dim, index, src, reduce == "add" ? "sum" : "prod");
}
Tensor scatter(const Tensor& self, std::int64_t dim, const Tensor& index, Scalar value,
               std::string_view reduce) {
  return scatter(self, dim, index, full_like(index, value, self.options()), reduce);
}

}  // namespace halfgrad
