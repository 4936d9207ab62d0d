#include <halfgrad/testing/sampling_check.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/philox.h>
#include <halfgrad/testing/independence.h>
#include <halfgrad/testing/number_format_of.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {
namespace {

constexpr std::size_t kDistributions = 8;
constexpr std::int64_t kLarge = 128, kMostWeight = 255;  // exact in bfloat16

/// Whole weights of k classes before their sum is made a power of two.
std::vector<std::int64_t> raw_weights(std::size_t which, std::size_t k, std::uint64_t seed) {
  std::vector<std::int64_t> weights(k, 1);
  for (std::size_t i = 0; i < k; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto random = static_cast<std::int64_t>(random_block({seed, which}, i).word[0] % 16);
    switch (which) {
      case 1:
        weights[i] = 1 + at * 15 / static_cast<std::int64_t>(k);
        break;  // growing
      case 2:
        weights[i] = i == k / 3;
        break;  // one class
      case 3:
        weights[i] = i % 2 == 0;
        break;  // every second
      case 4:
        weights[i] = i >= k / 4 && i < k - k / 4;
        break;  // not at the ends
      case 5:
        weights[i] = i + 1 == k ? kLarge : at % 2;
        break;  // the last above all
      case 6:
        weights[i] = random;
        break;
      case 7:
        weights[i] = i == 0 ? kLarge : random / 8;
        break;  // the first above all
      default:
        break;  // uniform
    }
  }
  return weights;
}

/// Whole weights up to 255 whose sum is a power of two, so that their quotients are exact in every
/// dtype.
std::vector<std::int64_t> whole_weights(std::size_t which, std::size_t k, std::uint64_t seed) {
  std::vector<std::int64_t> weights = raw_weights(which, k, seed);
  std::int64_t sum = std::reduce(weights.begin(), weights.end());
  if (sum == 0) weights[k - 1] = sum = 1;
  const auto wanted = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(sum)));
  for (std::int64_t missing = wanted - sum; missing > 0;) {
    for (std::size_t i = 0; i < k && missing > 0; ++i) {
      const std::int64_t more = weights[i] == 0 ? 0 : std::min(missing, std::int64_t{1});
      if (weights[i] + more > kMostWeight) continue;
      weights[i] += more;
      missing -= more;
    }
  }
  return weights;
}

/// Raises the top_k largest weights by 1, if another one equals the least of them.
void separate_top(std::vector<double>& weights, std::size_t top_k) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  if (top_k >= order.size() || weights[order[top_k - 1]] != weights[order[top_k]]) return;
  for (std::size_t i = 0; i < top_k; ++i) weights[order[i]] += 1;
}

/// A row of weights as the kernel gets it, and the probabilities of its classes.
struct Distribution {
  std::vector<double> weights, probabilities;
};

Distribution distribution_of(std::size_t which, std::size_t k,
                             const SamplingCheckOptions& options) {
  const std::vector<std::int64_t> whole = whole_weights(which, k, options.seed);
  Distribution result{std::vector<double>(whole.begin(), whole.end()), {}};
  std::vector<double>& weights = result.weights;
  const double sum = static_cast<double>(std::reduce(whole.begin(), whole.end()));
  const auto top_k = static_cast<std::size_t>(options.top_k);
  if (top_k > 0) separate_top(weights, top_k);
  for (double& x : weights) {
    x = rounded_to(options.dtype, options.logits ? std::log(x) : x / sum);
  }
  std::vector<double> sorted = weights;
  std::sort(sorted.rbegin(), sorted.rend());
  const double least = top_k > 0 && top_k < k ? sorted[top_k - 1] : sorted.back();
  double total = 0;
  for (const double x : weights) {
    const double probability = x < least ? 0 : options.logits ? std::exp(x) : x;
    result.probabilities.push_back(probability);
    total += probability;
  }
  for (double& x : result.probabilities) x /= total;
  return result;
}

class SamplingCheck {
 public:
  SamplingCheck(const SamplingKernel& kernel, const SamplingCheckOptions& options)
      : kernel_(kernel), options_(options) {}

  DistributionReport run() {
    if (!is_floating_point(options_.dtype)) {
      halfgrad::detail::fail("check_sampling", "expected a floating-point dtype, got {}",
                             options_.dtype);
    }
    if (options_.top_k < 0) {
      halfgrad::detail::fail("check_sampling", "expected top_k of 0 or more, got {}",
                             options_.top_k);
    }
    try {
      for (const std::int64_t k : {1, 2, 3, 33, 1000, 5003}) check_classes(k);
      check_rows();
      check_states();
      call(0, uniform(5), state(0));
    } catch (const std::exception& error) {
      report_.add("threw", [&] { return std::string(error.what()); });
    }
    return report_;
  }

 private:
  RandomState state(std::uint64_t n) const { return {(options_.seed + n) & 0x7fffffff, 0}; }

  std::vector<Distribution> distributions(std::int64_t k) const {
    std::vector<Distribution> all;
    for (std::size_t i = 0; i < kDistributions; ++i) {
      all.push_back(distribution_of(i, static_cast<std::size_t>(k), options_));
    }
    return all;
  }
  std::vector<Distribution> uniform(std::int64_t k) const {
    return {distribution_of(0, static_cast<std::size_t>(k), options_)};
  }

  /// Draws a class for each of m rows, which take the distributions in turn.
  Decisions call(std::int64_t m, const std::vector<Distribution>& given, RandomState state) {
    const auto k = static_cast<std::int64_t>(given[0].weights.size());
    std::vector<double> weights;
    weights.reserve(static_cast<std::size_t>(m * k));
    for (std::int64_t row = 0; row < m; ++row) {
      const std::vector<double>& one = given[static_cast<std::size_t>(row) % given.size()].weights;
      weights.insert(weights.end(), one.begin(), one.end());
    }
    const Tensor on_device = tensor_of(weights, {m, k}).to(options_.dtype).to(options_.device);
    const Tensor classes = full({m}, -1, {kInt64, options_.device});
    kernel_(on_device.array(), state, classes.array());
    report_.add_samples(m);
    Decisions drawn;
    for (const double each : classes.to(kCPU).to_vector<double>()) {
      const bool known = each >= 0 && each < static_cast<double>(k);
      if (!known) {
        report_.add("out of range", [&] {
          return "row " + std::to_string(drawn.size()) + " has class " +
                 std::to_string(static_cast<std::int64_t>(each)) + " of " + std::to_string(k);
        });
      }
      drawn.push_back(known ? static_cast<std::int32_t>(each) : 0);
    }
    return drawn;
  }

  /// The counts of all classes, by the distributions of their rows.
  void check_classes(std::int64_t k) {
    const std::vector<Distribution> given = distributions(k);
    const std::int64_t m = k < 1000 ? 4096 : k == 1000 ? 1024 : 256, calls = 4;
    std::vector<std::vector<std::int64_t>> counts(
        kDistributions, std::vector<std::int64_t>(static_cast<std::size_t>(k)));
    for (std::int64_t n = 0; n < calls; ++n) {
      const Decisions drawn = call(m, given, state(static_cast<std::uint64_t>(n)));
      for (std::size_t row = 0; row < drawn.size(); ++row) {
        ++counts[row % kDistributions][static_cast<std::size_t>(drawn[row])];
      }
    }
    const std::int64_t rows = m * calls / static_cast<std::int64_t>(kDistributions);
    for (std::size_t i = 0; i < kDistributions; ++i) judge(given[i], counts[i], rows, i);
  }

  void judge(const Distribution& given, const std::vector<std::int64_t>& counts, std::int64_t rows,
             std::size_t which) {
    const std::size_t k = counts.size();
    const std::string where = " of " + std::to_string(k) + ", in rows " + std::to_string(which) +
                              " modulo " + std::to_string(kDistributions) + ", is drawn";
    std::int64_t up_to = 0;
    double probability = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const std::string name = "class " + std::to_string(i);
      if (given.probabilities[i] == 0 && counts[i] > 0) {
        report_.add("impossible class", [&] {
          return name + where + " " + std::to_string(counts[i]) + " of " + std::to_string(rows) +
                 " times; its probability is 0";
        });
      }
      up_to += counts[i];
      probability = std::min(1.0, probability + given.probabilities[i]);
      report_.expect_binomial("wrong share", counts[i], rows, given.probabilities[i], name + where);
      report_.expect_binomial("wrong share", up_to, rows, probability,
                              name + where + ", or one before,");
    }
  }

  /// Rows of one distribution are independent, and each depends on the seed.
  void check_rows() {
    constexpr std::int64_t kClasses = 4, kRows = 1 << 15, kFew = 33, kSeeds = 64;
    const std::vector<Distribution> given = uniform(kClasses);
    expect_independent(report_, call(kRows, given, state(0)), 32, agreement(given[0]),
                       " among rows");
    std::vector<std::int64_t> firsts(kFew);
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Decisions drawn = call(kFew, given, state(100 + seed));
      for (std::size_t row = 0; row < drawn.size(); ++row) firsts[row] += drawn[row] == 0;
    }
    for (std::size_t row = 0; row < firsts.size(); ++row) {
      report_.expect_binomial("wrong share", firsts[row], kSeeds, given[0].probabilities[0],
                              "row " + std::to_string(row) + " has class 0, by other seeds,");
    }
  }

  /// The probability that two rows of this distribution have one class.
  static double agreement(const Distribution& given) {
    double sum = 0;
    for (const double p : given.probabilities) sum += p * p;
    return sum;
  }

  void check_states() {
    constexpr std::int64_t kRows = 1 << 14, kClasses = 4;
    const std::vector<Distribution> given = uniform(kClasses);
    const RandomState first = state(0);
    const Decisions drawn = call(kRows, given, first);
    if (call(kRows, given, first) != drawn) {
      report_.add("not deterministic", [] {
        return std::string("two calls with one seed and offset draw other classes");
      });
    }
    RandomState offset = first;
    offset.offset = kRows * kClasses;
    const double agree = agreement(given[0]);
    expect_independent(report_, drawn, call(kRows, given, state(1)), agree, " of the next seed");
    expect_independent(report_, drawn, call(kRows, given, offset), agree, " of another offset");
  }

  const SamplingKernel& kernel_;
  const SamplingCheckOptions& options_;
  DistributionReport report_{"sampling"};
};

}  // namespace

DistributionReport check_sampling(const SamplingKernel& kernel,
                                  const SamplingCheckOptions& options) {
  return SamplingCheck(kernel, options).run();
}

}  // namespace halfgrad::testing
