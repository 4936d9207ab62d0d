#include <cmath>
#include <limits>
#include <vector>

#include <halfgrad/autograd/composed/statistics.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

void expect_quantile_arguments(const Tensor& self, const Tensor& q,
                               std::string_view interpolation) {
  if (self.dtype() != kFloat32 && self.dtype() != kFloat64) {
    detail::fail("quantile", "expected self of float32 or float64, got {}", self.dtype());
  }
  if (!q.is_floating_point() || q.dim() > 1) {
    detail::fail("quantile",
                 "expected q of a floating point dtype and at most one dimension, "
                 "got {} of shape {}",
                 q.dtype(), q.sizes());
  }
  for (const double share : q.to_vector<double>()) {
    if (!(share >= 0 && share <= 1))
      detail::fail("quantile", "expected 0 <= q <= 1, got {}", share);
  }
  for (const std::string_view known : {"linear", "lower", "higher", "nearest", "midpoint"}) {
    if (interpolation == known) return;
  }
  detail::fail("quantile",
               "expected interpolation \"linear\", \"lower\", \"higher\", \"nearest\" "
               "or \"midpoint\", got \"{}\"",
               interpolation);
}

// Returns a + weight (b - a), and an infinity where one of the two is infinite: there the
// formula gives NaN.
Tensor between(const Tensor& a, const Tensor& b, const Tensor& weight) {
  const Tensor is_infinite = isinf(a) | isinf(b);
  const Tensor finite =
      lerp(masked_fill(a, is_infinite, 0), masked_fill(b, is_infinite, 0), weight);
  return where(is_infinite, (a + b).detach(), finite);
}

// The elements sorted along one dimension, and their quantiles by rank.
struct SortedElements {
  Tensor values;
  int dim;
  std::string_view interpolation;

  // `position` is the value of the 0-dimensional `rank`.
  Tensor at(const Tensor& rank, double position) const {
    double low = std::floor(position), high = std::ceil(position);
    if (interpolation == "lower") high = low;
    if (interpolation == "higher") low = high;
    if (interpolation == "nearest") low = high = std::nearbyint(position);
    const Tensor below = select(values, dim, static_cast<std::int64_t>(low));
    if (low == high) return below;
    const Tensor above = select(values, dim, static_cast<std::int64_t>(high));
    const Tensor weight = interpolation == "midpoint" ? full_like(rank, 0.5) : rank - low;
    return between(below, above, to(weight, values.dtype()));
  }
};

}  // namespace

Tensor quantile(const Tensor& self, const Tensor& q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  expect_quantile_arguments(self, q, interpolation);
  const bool is_flat = !dim || self.dim() == 0;
  const int d = dim ? wrap_dim(*dim, static_cast<int>(self.dim()), "quantile") : 0;
  const Tensor x = is_flat ? flatten(self) : self;
  if (x.size(d) == 0) detail::fail("quantile", "expected elements, got shape {}", self.sizes());
  const SortedElements sorted{std::get<0>(sort(x, d)), d, interpolation};
  const std::int64_t last = x.size(d) - 1;
  // PyTorch rounds ranks to the dtype of self; float32 has no odd integers above 2^24.
  const Tensor ranks = to(q, last < (1 << 24) ? self.dtype() : kFloat64) * last;
  const std::vector<double> positions = ranks.to_vector<double>();
  const Tensor has_nan = isnan(select(sorted.values, d, last));
  Shape sizes = has_nan.sizes();
  if (keepdim && is_flat) {
    for (int i = 0; i < self.dim(); ++i) sizes.push_back(1);
  } else if (keepdim) {
    sizes.insert(d, 1);
  }
  std::vector<Tensor> results;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const Tensor rank = q.dim() == 0 ? ranks : select(ranks, 0, static_cast<std::int64_t>(i));
    const Tensor result = masked_fill(sorted.at(rank, positions[i]), has_nan,
                                      std::numeric_limits<double>::quiet_NaN());
    results.push_back(reshape(result, sizes));
  }
  if (q.dim() == 0) return results[0];
  if (!results.empty()) return stack(results);
  sizes.insert(0, 0);
  return zeros(sizes, {.dtype = self.dtype(), .device = self.device()});
}

Tensor quantile(const Tensor& self, double q, std::optional<std::int64_t> dim, bool keepdim,
                std::string_view interpolation) {
  const Tensor share = full({}, q, {.dtype = kFloat64, .device = self.device()});
  return quantile(self, share, dim, keepdim, interpolation);
}

}  // namespace halfgrad
