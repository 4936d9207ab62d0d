#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/parallel.h>
#include <halfgrad/core/random.h>
#include <halfgrad/core/sorting.h>

namespace halfgrad {
namespace detail {
namespace {

// The same on every device, as u is: sums in one order, and no a * b + c to contract.
struct WhereItFalls {
  const double* sums;  // [rows, n]
  std::int64_t n;
  const double* u;  // [rows, draws]
  std::int64_t draws;
  std::int64_t* out;

  // The first of those that reach beyond u times the total, so none of weight 0.
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

// Arrivals at these rates come in the order of draws without replacement: the time of the first one
// is exponentially distributed, -log(1 - u) / weight. Its reciprocal is 0 of weight 0 alone.
struct Earliness {
  const double* weight;   // [rows, n]
  const double* largest;  // [rows]
  std::int64_t n;
  double* u;  // becomes the earliness

  HG_HD void operator()(std::int64_t row, std::int64_t i) const {
    constexpr double kLeast = std::numeric_limits<double>::denorm_min();
    const std::int64_t at = row * n + i;
    const double time = std::fabs(portable_log<double, std::uint64_t>(1 - u[at]));  // 0, not -0
    const double early = weight[at] / largest[row] / time;
    u[at] = weight[at] > 0 ? (early > kLeast ? early : kLeast) : 0;
  }
};

Array uniform_numbers(const Shape& sizes, Device device, RandomKey key) {
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
    const Array u = uniform_numbers({rows, draws}, sums.device(), key);
    const Array out = Array::empty({rows, draws}, DType::i64, sums.device());
    const WhereItFalls f{sums.data_as<double>(), n, u.data_as<double>(), draws,
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
    const Array early = uniform_numbers({rows, n}, weights.device(), key);
    const Earliness f{weights.data_as<double>(), largest.data_as<double>(), n,
                      early.data_as<double>()};
    parallel_for_each(name, weights.device(), rows, n, f);
    return row_order(name, early, draws, true);
  }
};

[[noreturn]] void refuse_draw(const std::string& expected, const std::string& got) {
  throw std::invalid_argument("multinomial: expected " + expected + ", got " + got);
}

void expect_arguments(const Tensor& self, std::int64_t draws, bool replacement) {
  if (!self.is_floating_point()) {
    refuse_draw("probabilities of a floating-point dtype", std::string(name(self.dtype())));
  }
  if (self.dim() != 1 && self.dim() != 2) {
    refuse_draw("probabilities [n] or [rows, n]", "shape " + to_string(self.sizes()));
  }
  if (self.size(-1) == 0)
    refuse_draw("probabilities to choose from", "shape " + to_string(self.sizes()));
  if (draws < 1) refuse_draw("num_samples above 0", std::to_string(draws));
  if (!replacement && draws > self.size(-1)) {
    refuse_draw("num_samples of at most " + std::to_string(self.size(-1)) + " without replacement",
                std::to_string(draws));
  }
}

// Of contiguous float64 [rows, n] on the CPU.
void expect_weights(const Array& weights, std::int64_t choices) {
  const std::int64_t n = weights.size(1);
  for (std::int64_t row = 0; row < weights.size(0); ++row) {
    const double* const first = weights.data_as<double>() + row * n;
    const double* const bad =
        std::find_if(first, first + n, [](double x) { return !(x >= 0) || std::isinf(x); });
    if (bad != first + n) refuse_draw("probabilities >= 0 and finite", std::to_string(*bad));
    const auto above = std::count_if(first, first + n, [](double x) { return x > 0; });
    if (above < choices) {
      refuse_draw(std::to_string(choices) + " or more probabilities above 0 in every row",
                  std::to_string(above) + " in row " + std::to_string(row));
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
  const Tensor largest = amax(weights, {1}, true);  // divided by it they have a sum that is finite
  const RandomKey key = default_generator().take();
  const Tensor drawn = independent ? detail::apply(detail::DrawWithReplacement{num_samples, key},
                                                   cumsum(weights / largest, 1))
                                   : detail::apply(detail::DrawWithoutReplacement{num_samples, key},
                                                   weights, largest);
  return self.dim() == 1 ? squeeze(drawn, 0) : drawn;
}

}  // namespace halfgrad
