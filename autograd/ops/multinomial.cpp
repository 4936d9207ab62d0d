#include <algorithm>
#include <cmath>
#include <limits>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/engines/parallel.h>
#include <halfgrad/core/engines/sorting.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad {
namespace detail {
namespace {

// y = the first i with weight_0 + ... + weight_i > u (weight_0 + ... + weight_(n-1))
//
// u is uniform in [0, 1), so an i of weight 0 is never drawn. The draws are the same on every
// device: u and the sums are, and there is no a * b + c that a compiler could contract.
struct DrawFromSums {
  const double* sums;  // [rows, n], cumulative
  std::int64_t n;
  const double* u;  // [rows, draws]
  std::int64_t draws;
  std::int64_t* out;

  HG_HD void operator()(std::int64_t row, std::int64_t draw) const {
    const double* const sum = sums + row * n;
    const double point = u[row * draws + draw] * sum[n - 1];
    std::int64_t low = 0, high = n - 1;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (sum[middle] > point) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    out[row * draws + draw] = low;
  }
};

// Element i arrives at an exponentially distributed time of rate weight_i,
//     t_i = -log(1 - u_i) / weight_i,  u_i uniform in [0, 1)
// and the order of arrival is that of draws without replacement. Stores 1 / t_i, which is 0 only
// where the weight is 0.
struct Earliness {
  const double* weight;   // [rows, n]
  const double* largest;  // [rows]
  std::int64_t n;
  double* u;  // overwritten by 1 / t

  HG_HD void operator()(std::int64_t row, std::int64_t i) const {
    constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
    const std::int64_t at = row * n + i;
    const double time = std::fabs(portable_log<double, std::uint64_t>(1 - u[at]));  // 0, not -0
    const double early = weight[at] / largest[row] / time;
    u[at] = weight[at] > 0 ? (early > kSmallest ? early : kSmallest) : 0;
  }
};

Array uniform_samples(const Shape& sizes, Device device, RandomKey key) {
  const Array u = Array::empty(sizes, DType::f64, device);
  random::uniform(u, 0, 1, key);
  return u;
}

struct DrawWithReplacement {
  static constexpr auto name = "multinomial";
  static constexpr auto precision = Precision::any;
  std::int64_t draws;
  RandomKey key;

  Array forward(const Array& sums) const {
    const std::int64_t rows = sums.size(0), n = sums.size(1);
    const Array u = uniform_samples({rows, draws}, sums.device(), key);
    const Array out = Array::empty({rows, draws}, DType::i64, sums.device());
    const DrawFromSums f{sums.data_as<double>(), n, u.data_as<double>(), draws,
                         out.data_as<std::int64_t>()};
    parallel_for_each(name, sums.device(), rows, draws, f);
    return out;
  }
};

struct DrawWithoutReplacement {
  static constexpr auto name = "multinomial";
  static constexpr auto precision = Precision::any;
  std::int64_t draws;
  RandomKey key;

  Array forward(const Array& weights, const Array& largest) const {
    const std::int64_t rows = weights.size(0), n = weights.size(1);
    const Array early = uniform_samples({rows, n}, weights.device(), key);
    const Earliness f{weights.data_as<double>(), largest.data_as<double>(), n,
                      early.data_as<double>()};
    parallel_for_each(name, weights.device(), rows, n, f);
    return row_order(name, early, draws, true);
  }
};

void expect_arguments(const Tensor& self, std::int64_t draws, bool replacement) {
  if (!self.is_floating_point()) {
    fail("multinomial", "expected probabilities of a floating-point dtype, got {}", self.dtype());
  }
  if (self.dim() != 1 && self.dim() != 2) {
    fail("multinomial", "expected probabilities [n] or [rows, n], got shape {}", self.sizes());
  }
  if (self.size(-1) == 0) {
    fail("multinomial", "expected probabilities to choose from, got shape {}", self.sizes());
  }
  if (draws < 1) fail("multinomial", "expected num_samples above 0, got {}", draws);
  if (!replacement && draws > self.size(-1)) {
    fail("multinomial", "expected num_samples of at most {} without replacement, got {}",
         self.size(-1), draws);
  }
}

// `weights` is contiguous float64 [rows, n] on the CPU.
void expect_weights(const Array& weights, std::int64_t choices) {
  const std::int64_t n = weights.size(1);
  for (std::int64_t row = 0; row < weights.size(0); ++row) {
    const double* const first = weights.data_as<double>() + row * n;
    const double* const bad =
        std::find_if(first, first + n, [](double x) { return !(x >= 0) || std::isinf(x); });
    if (bad != first + n) {
      fail("multinomial", "expected probabilities >= 0 and finite, got {}", *bad);
    }
    const auto above = std::count_if(first, first + n, [](double x) { return x > 0; });
    if (above < choices) {
      fail("multinomial",
           "expected {} or more probabilities above 0 in every row, got {} in row {}", choices,
           above, row);
    }
  }
}

}  // namespace
}  // namespace detail

Tensor multinomial(const Tensor& self, std::int64_t num_samples, bool replacement) {
  detail::expect_arguments(self, num_samples, replacement);
  const NoGradGuard no_grad;
  const bool independent = replacement || num_samples == 1;
  const Tensor weights = reshape(self, {-1, self.size(-1)}).to(kDouble).contiguous();
  if (!self.is_cuda()) detail::expect_weights(weights.array(), independent ? 1 : num_samples);
  const Tensor largest = amax(weights, {1}, true);  // weights / largest have a finite sum
  const RandomKey key = default_generator().take();
  const Tensor drawn = independent ? detail::apply(detail::DrawWithReplacement{num_samples, key},
                                                   cumsum(weights / largest, 1))
                                   : detail::apply(detail::DrawWithoutReplacement{num_samples, key},
                                                   weights, largest);
  return self.dim() == 1 ? squeeze(drawn, 0) : drawn;
}

}  // namespace halfgrad
