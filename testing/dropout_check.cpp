#include <halfgrad/testing/dropout_check.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/philox.h>
#include <halfgrad/testing/independence.h>
#include <halfgrad/testing/json_text.h>
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/number_format_of.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {
namespace {

/// x / (1 - p), for the values that are used, with its budget.
ErrorBudget budget_of(const Values& x, double p, DType dtype) {
  const KernelFormula scaled{
      .name = "dropout", .inputs = {{"m"}}, .reference = [p](const std::vector<BoundedArray>& in) {
        return in[0] / (1.0 - constant(in[0], p));
      }};
  const DType accumulate = dtype == kFloat64 ? kFloat64 : kFloat32;
  return error_budget(kernel_op(scaled), {x}, accumulate, dtype);
}

class DropoutCheck {
 public:
  DropoutCheck(const DropoutKernel& kernel, const DropoutCheckOptions& options)
      : kernel_(kernel), options_(options) {}

  DistributionReport run() {
    for (const double p : options_.probabilities) {
      if (!(p >= 0 && p <= 1)) {
        halfgrad::detail::fail("check_dropout", "expected a probability from 0 to 1, got {}", p);
      }
    }
    if (!is_floating_point(options_.dtype)) {
      halfgrad::detail::fail("check_dropout", "expected a floating-point dtype, got {}",
                             options_.dtype);
    }
    try {
      for (const double p : options_.probabilities) check_special_values(p);
      for (const double p : options_.probabilities) check_shares(p);
      check_states();
      check_places();
      call({0}, 0.5, state(0));
    } catch (const std::invalid_argument&) {
      throw;
    } catch (const std::exception& error) {
      report_.add("threw", [&] { return std::string(error.what()); });
    }
    return report_;
  }

 private:
  /// The kernel's state in its n-th set of calls.
  RandomState state(std::uint64_t n) const { return {(options_.seed + n) & 0x7fffffff, 0}; }

  /// The number of the value in `table` that each element has: the same draws for every size.
  std::vector<std::uint8_t> drawn(std::int64_t count, std::size_t values) const {
    std::vector<std::uint8_t> places(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < places.size(); i += 4) {
      const PhiloxBlock random = random_block({options_.seed, 1}, i);
      for (std::size_t j = 0; j < 4 && i + j < places.size(); ++j) {
        places[i + j] = static_cast<std::uint8_t>(random.word[j] % values);
      }
    }
    return places;
  }

  /// Runs the kernel on elements of `table`, judges its values, and returns which elements it kept.
  Bits call(const Shape& sizes, const std::vector<double>& table,
            const std::vector<std::uint8_t>& places, double p, RandomState state) {
    std::vector<double> x;
    x.reserve(places.size());
    for (const std::uint8_t place : places) x.push_back(table[place]);
    const Tensor input = tensor_of(x, sizes).to(options_.dtype).to(options_.device);
    const Tensor y = full(sizes, std::nan(""), {options_.dtype, options_.device});
    const Tensor mask = options_.has_mask ? zeros(sizes, {kBool, options_.device}) : Tensor();
    kernel_(input.array(), p, state, y.array(), mask.defined() ? mask.array() : Array());
    report_.add_samples(input.numel());
    const std::vector<double> got = y.to(kCPU).to_vector<double>();
    const std::vector<double> flags = mask.defined() ? mask.to(kCPU).to_vector<double>() : got;
    Bits kept(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) kept[i] = flags[i] != 0;
    const ErrorBudget& budget = budget_for(table, p);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t place = places[i];
      judge_value(i, x[i], p, got[i], kept[i] != 0, budget.expected[place], budget.allowed[place]);
    }
    return kept;
  }
  Bits call(const Shape& sizes, double p, RandomState state) {
    return call(sizes, ordinary(), drawn(numel(sizes), ordinary().size()), p, state);
  }

  /// Values that are not 0, exact in every dtype.
  static const std::vector<double>& ordinary() {
    static const std::vector<double> table = [] {
      std::vector<double> values;
      for (int i = 0; i < 32; ++i) values.push_back((i % 2 == 0 ? 1 : -1) * (0.5 + i / 32.0));
      return values;
    }();
    return table;
  }

  /// The budgets of the table's values, kept from call to call.
  const ErrorBudget& budget_for(const std::vector<double>& table, double p) {
    if (table != budget_table_ || p != budget_p_) {
      std::vector<double> stored;
      for (const double x : table) stored.push_back(rounded_to(options_.dtype, x));
      const auto count = static_cast<std::int64_t>(stored.size());
      budget_ = budget_of({{count}, stored}, p, options_.dtype);
      budget_table_ = table;
      budget_p_ = p;
    }
    return budget_;
  }

  void judge_value(std::size_t i, double x, double p, double y, bool kept, double expected,
                   double allowed) {
    if (p == 1 && kept && x != 0 && y != 0) {
      return report_.add("wrong value",
                         [&] { return "element " + std::to_string(i) + " is kept for p = 1"; });
    }
    const bool dropped_is_right = y == 0 || (std::isnan(y) && !std::isfinite(x));
    const bool kept_is_right = p < 1 && budget_used(y, expected, allowed, options_.dtype) <= 1;
    if (kept && std::fabs(y - expected) <= allowed && p < 1) return;
    // Without a mask a zero, an infinity or NaN may be either.
    const bool either = !options_.has_mask && (x == 0 || !std::isfinite(x) || y == 0);
    if (kept ? kept_is_right || (either && dropped_is_right) : dropped_is_right) return;
    report_.add("wrong value", [&] {
      return "element " + std::to_string(i) + " is " + number_text(y, 9) +
             " for x = " + number_text(x, 9) + " and p = " + number_text(p, 6) + ", expected " +
             (kept ? number_text(expected, 9) + " within " + number_text(allowed, 3)
                   : std::string("0, as it is dropped"));
    });
  }

  void check_special_values(double p) {
    const FormatLimits limits = limits_of(options_.dtype);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::vector<double> specials = {
        0, -0.0, 1, -1, infinity, -infinity, limits.largest, -limits.largest, limits.smallest, 0.1};
    call({2000}, specials, drawn(2000, specials.size()), p, state(0));
  }

  /// The share of kept elements, in all, by row and by column, and the independence of neighbours.
  void check_shares(double p) {
    constexpr std::int64_t kRows = 513, kColumns = 511;
    const std::string at = " for p = " + number_text(p, 6);
    std::vector<std::int64_t> by_row(kRows), by_column(kColumns);
    const std::int64_t calls = p == 0 || p == 1 ? 1 : 4;
    std::int64_t all = 0;
    for (std::int64_t n = 0; n < calls; ++n) {
      const Bits kept = call({kRows, kColumns}, p, state(static_cast<std::uint64_t>(n)));
      for (std::size_t i = 0; i < kept.size(); ++i) {
        all += kept[i];
        by_row[i / kColumns] += kept[i];
        by_column[i % kColumns] += kept[i];
      }
      if (n == 0 && p > 0 && p < 1) {
        expect_independent(report_, kept, kColumns, p * p + (1 - p) * (1 - p), at);
      }
    }
    const auto expect = [&](std::int64_t count, std::int64_t of, const std::string& where) {
      report_.expect_binomial("wrong share", count, of, 1 - p,
                              "elements" + where + " are kept" + at);
    };
    expect(all, calls * kRows * kColumns, "");
    for (std::size_t i = 0; i < by_row.size(); ++i) {
      expect(by_row[i], calls * kColumns, " of row " + std::to_string(i));
    }
    for (std::size_t i = 0; i < by_column.size(); ++i) {
      expect(by_column[i], calls * kRows, " of column " + std::to_string(i));
    }
  }

  /// Equal states give equal masks, whatever x is; other seeds and offsets give independent ones.
  void check_states() {
    constexpr std::int64_t kCount = 1 << 16;
    const RandomState first = state(0);
    const Bits kept = call({kCount}, 0.5, first);
    const std::vector<std::uint8_t> ones(kCount, 0);
    if (call({kCount}, 0.5, first) != kept) {
      report_.add("not deterministic", [] {
        return std::string("two calls with one seed and offset have other masks");
      });
    } else if (call({kCount}, ordinary(), ones, 0.5, first) != kept) {
      report_.add("dependent", [] {
        return std::string("another x gives another mask with the same seed and offset");
      });
    }
    RandomState offset = first;
    offset.offset = kCount;
    expect_independent(report_, kept, call({kCount}, 0.5, state(1)), 0.5,
                       " of the next seed for p = 0.5");
    expect_independent(report_, kept, call({kCount}, 0.5, offset), 0.5,
                       " of another offset for p = 0.5");
  }

  /// Every place of small arrays is kept by about half of the seeds.
  void check_places() {
    constexpr std::int64_t kSeeds = 64;
    for (const Shape& sizes : {Shape{1}, Shape{1, 7}, Shape{3, 343}}) {
      std::vector<std::int64_t> kept(static_cast<std::size_t>(numel(sizes)));
      for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const Bits one = call(sizes, 0.5, state(100 + seed));
        for (std::size_t i = 0; i < one.size(); ++i) kept[i] += one[i];
      }
      for (std::size_t i = 0; i < kept.size(); ++i) {
        report_.expect_binomial("wrong share", kept[i], kSeeds, 0.5,
                                "element " + std::to_string(i) + " of " + to_string(sizes) +
                                    " is kept, by other seeds for p = 0.5,");
      }
    }
  }

  const DropoutKernel& kernel_;
  const DropoutCheckOptions& options_;
  DistributionReport report_{"dropout"};
  std::vector<double> budget_table_;
  double budget_p_ = -1;
  ErrorBudget budget_;
};

}  // namespace

DistributionReport check_dropout(const DropoutKernel& kernel, const DropoutCheckOptions& options) {
  return DropoutCheck(kernel, options).run();
}

}  // namespace halfgrad::testing
