#include <halfgrad/autograd/composed/statistics.h>

#include <limits>

#include <halfgrad/autograd/composed/widened.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/engines/sorting.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

using Selection = std::tuple<Tensor, Tensor>;

// Returns the elements at the indices that find(x, d) gives, of size 1 along d, and the indices.
template <class F>
Selection selected(const char* op, const Tensor& self, std::int64_t dim, bool keepdim,
                   const F& find) {
  const int d = wrap_dim(dim, static_cast<int>(self.dim()), op);
  const bool is_scalar = self.dim() == 0;
  const Tensor x = is_scalar ? unsqueeze(self, 0) : self;
  if (x.size(d) == 0) {
    detail::fail(op, "expected elements along dimension {}, got shape {}", d, self.sizes());
  }
  const Tensor index = find(x.detach(), d);
  const Tensor values = gather(x, d, index);
  if (keepdim && !is_scalar) return {values, index};
  return {squeeze(values, d), squeeze(index, d)};
}

// Returns the index along d of the element at `place` [..., 1, ...] in sorted order.
Tensor index_in_order(const char* op, const Tensor& x, int d, const Tensor& place) {
  const Array last = x.array().transpose(d, -1).contiguous();
  const Array places = place.array().transpose(d, -1).contiguous();
  const Array rows = last.reshape({places.numel(), x.size(d)});
  const Array indices = detail::row_selection(op, rows, places).reshape(places.sizes());
  return Tensor(indices.transpose(d, -1).contiguous());
}

// Returns the index of the median. Sorting puts NaN at the end: the first one is chosen.
Tensor median_index(const Tensor& x, int d) {
  const std::int64_t count = x.size(d);
  const Tensor nans = sum(isnan(x), d, true);
  const Tensor place = where(nans > 0, count - nans, (count - 1) / 2);
  return index_in_order("median", x, d, place);
}

// Returns the last index of the longest run of equal elements in sorted order, the first of
// several.
Tensor mode_index(const Tensor& x, int d) {
  const auto [sorted, indices] = sort(x, d);
  const std::int64_t rest = x.size(d) - 1;
  const Tensor first = ones_like(narrow(sorted, d, 0, 1), kBool);
  const Tensor begins = cat({first, ne(narrow(sorted, d, 1, rest), narrow(sorted, d, 0, rest))}, d);
  const Tensor runs = cumsum(begins, d) - 1;
  const Tensor lengths = scatter_add(zeros_like(runs), d, runs, ones_like(runs));
  const Tensor frequency = gather(lengths, d, runs);
  const Tensor begin = argmax(frequency, d, true);
  return gather(indices, d, begin + gather(frequency, d, begin) - 1);
}

Tensor without_nans(const Tensor& self) { return masked_fill(self, isnan(self), 0); }

}  // namespace

// amax() shares the gradient among the elements that equal the median.
Tensor median(const Tensor& self) {
  if (self.numel() == 0) {
    if (!self.is_floating_point()) {
      detail::fail("median", "expected elements, got shape {}", self.sizes());
    }
    return sum(self) + std::numeric_limits<double>::quiet_NaN();
  }
  const Tensor flat = flatten(self);
  const Tensor value = std::get<0>(median(flat.detach(), 0));
  if (!self.requires_grad()) return value;
  return amax(masked_select(flat, (flat == value) | (isnan(flat) & isnan(value))));
}
Selection median(const Tensor& self, std::int64_t dim, bool keepdim) {
  return selected("median", self, dim, keepdim, median_index);
}

Selection kthvalue(const Tensor& self, std::int64_t k, std::int64_t dim, bool keepdim) {
  return selected("kthvalue", self, dim, keepdim, [k](const Tensor& x, int d) {
    if (k < 1 || k > x.size(d)) {
      detail::fail("kthvalue", "expected 1 <= k <= {}, got {}", x.size(d), k);
    }
    Shape sizes = x.sizes();
    sizes[d] = 1;
    const Tensor place = full(sizes, k - 1, {.dtype = kLong, .device = x.device()});
    return index_in_order("kthvalue", x, d, place);
  });
}

Selection mode(const Tensor& self, std::int64_t dim, bool keepdim) {
  return selected("mode", self, dim, keepdim, mode_index);
}

// PyTorch's autocast leaves nansum() and nanmean() in 16 bits, unlike sum().
Tensor nansum(const Tensor& self, std::optional<DType> dtype) {
  return nansum(self, Dims(), false, dtype);
}
Tensor nansum(const Tensor& self, const Dims& dim, bool keepdim, std::optional<DType> dtype) {
  const auto compute = [&](const Tensor& x) {
    return detail::with_op_name("nansum", "sum",
                                [&] { return sum(without_nans(x), dim, keepdim, dtype); });
  };
  return detail::composite("nansum", Precision::any, compute, self);
}

Tensor nanmean(const Tensor& self, std::optional<DType> dtype) {
  return nanmean(self, Dims(), false, dtype);
}
Tensor nanmean(const Tensor& self, const Dims& dim, bool keepdim, std::optional<DType> dtype) {
  const Tensor given = to(self, dtype.value_or(self.dtype()));
  if (!given.is_floating_point()) {
    detail::fail("nanmean", "expected a floating point tensor, got {}", given.dtype());
  }
  const auto compute = [&](const Tensor& x) {
    return nansum(x, dim, keepdim) / sum(~isnan(x), dim, keepdim);
  };
  return detail::widened("nanmean", Precision::any, kFloat32, compute, given);
}

Selection aminmax(const Tensor& self, std::optional<std::int64_t> dim, bool keepdim) {
  const Dims dims = dim ? Dims(*dim) : Dims();
  return {amin(self, dims, keepdim), amax(self, dims, keepdim)};
}

Tensor count_nonzero(const Tensor& self, const Dims& dim) { return sum(self != 0, dim); }

}  // namespace halfgrad
