#include <cmath>
#include <sstream>
#include <string>
#include <tuple>

#include <halfgrad/testing/kernel_check.h>

namespace halfgrad::testing {
namespace {

/// The mean error, in ulps, from which rounding counts as biased: half of the bias of truncation.
/// For kElementsForBias elements it is 13 standard deviations of rounding to nearest.
constexpr double kBias = 0.25;
constexpr std::int64_t kElementsForBias = 256;

/// Describes a bias in the rounding of these elements; empty if there is none.
std::string bias_of(const BudgetUse& use, double least = kBias,
                    std::int64_t elements = kElementsForBias) {
  const double outward = use.bias(), upward = use.upward_bias();
  const double worst = std::fabs(outward) >= std::fabs(upward) ? outward : upward;
  if (use.inexact < elements || std::fabs(worst) < least) return {};
  std::ostringstream message;
  message.precision(3);
  message << "results are " << std::fabs(worst) << " ulps too "
          << (worst == outward ? outward < 0 ? "small" : "large"
              : upward < 0     ? "low"
                               : "high")
          << " in the mean of " << use.inexact << " elements: expected rounding to nearest";
  return message.str();
}

/// Describes exact ties that did not become the even one of two values; empty if there are few. The
/// ties of Hostile::ties are sums and products that are exact before they are stored.
std::string oddness_of(const BudgetUse& ties) {
  constexpr std::int64_t kFewTies = 16, kPart = 10;
  if (ties.odd_ties < kFewTies || ties.odd_ties * kPart < ties.exact_ties) return {};
  return std::to_string(ties.odd_ties) + " of " + std::to_string(ties.exact_ties) +
         " exact ties became the odd one of two values: expected rounding to nearest, ties to even";
}

/// Describes the rounding of the last elements, which a kernel computes in a loop of their own;
/// empty if they round as they should. There are few: no exact tie of a right kernel becomes odd.
std::string fault_of_tail(const BudgetUse& all, const BudgetUse& ties) {
  constexpr double kBiasOfTail = 0.35, kBiasOfFew = 0.4;
  if (std::string message = bias_of(all, kBiasOfTail); !message.empty()) return message;
  constexpr std::int64_t kFew = 128;
  if (std::string message = bias_of(all, kBiasOfFew, kFew); !message.empty()) return message;
  constexpr std::int64_t kFewTies = 4, kPart = 4;
  if (ties.odd_ties < kFewTies || ties.odd_ties * kPart < ties.exact_ties) return {};
  return std::to_string(ties.odd_ties) + " of " + std::to_string(ties.exact_ties) +
         " exact ties became the odd one of two values: expected rounding to nearest, ties to even";
}

/// True if results are 16-bit values of a computation in float32 or wider, whose errors have no
/// direction: those of fast functions and of truncated factors have one.
bool rounds_only_when_stored(const KernelContract& contract) {
  const Leniency& leniency = contract.leniency;
  return is_reduced(contract.output) && !is_reduced(contract.accumulate) && !leniency.tf32 &&
         !leniency.fast_math;
}

/// Describes a bias of results that are not exact before they are stored, such as a loss whose
/// terms may be stored; empty if there is none. Few of them show truncation, whose bias is 0.5.
std::string bias_of_close(const BudgetUse& use) {
  constexpr double kBiasOfClose = 0.4;
  constexpr std::int64_t kFew = 128;
  if (use.close < kFew || std::fabs(use.close_bias()) < kBiasOfClose) return {};
  std::ostringstream message;
  message.precision(3);
  message << "results are " << std::fabs(use.close_bias()) << " ulps too "
          << (use.close_bias() < 0 ? "small" : "large") << " in the mean of " << use.close
          << " elements: expected rounding to nearest";
  return message.str();
}

/// Describes a row whose elements share an error; empty if there is none.
std::string fault_of_row(const RowBias& row) {
  constexpr double kBiasOfRow = 0.2;
  if (row.ulps() < kBiasOfRow) return {};
  const bool is_outward = std::fabs(row.outward) >= std::fabs(row.upward);
  std::ostringstream message;
  message.precision(3);
  message << "the elements of row " << row.row << " are " << row.ulps() << " ulps too "
          << (is_outward       ? row.outward < 0 ? "small" : "large"
              : row.upward < 0 ? "low"
                               : "high")
          << " in the mean of " << row.elements
          << ": a factor or a term of the whole row is rounded, expected in the dtype that "
             "accumulates";
  return message.str();
}

/// The share of elements that are not the nearest value from which a kernel does not round to
/// nearest. It is 0 for rounding once to nearest, 0.16 for stochastic rounding and for rounding
/// twice, 0.4 for rounding to odd, and 0.02 for a term of the result in float16 before bfloat16.
constexpr double kFarShare = 0.01;

/// Describes rounding that has no direction but is not to nearest; empty if there is none.
std::string farness_of(const NearestShare& share) {
  if (share.elements < kElementsForBias || share.far < kFarShare * share.elements) return {};
  std::ostringstream message;
  message.precision(3);
  message << 100 * share.far / share.elements
          << " % of the rounded elements of all cases are not the nearest value: expected one "
             "rounding to nearest, of a result in the dtype that accumulates";
  return message.str();
}

/// True if the places of `next` show more of a mistake: they have a pattern, then are in a larger
/// result, up to a size at which a map of them is still clear.
bool tells_more(const BadElements& next, const BadElements& before) {
  constexpr std::int64_t kMostClear = 20'000;
  const auto clarity = [](const BadElements& bad) {
    const std::string pattern = pattern_of(bad);
    const int named = pattern.empty() ? 0 : pattern == "every element" ? 1 : 2;
    const std::int64_t elements = numel(bad.shape);
    const BadMap map = map_of(bad);
    const bool fits = map.rows_each == 1 && map.columns_each == 1;
    return std::tuple{elements <= kMostClear, named, fits, elements};
  };
  return before.wrong.empty() || clarity(next) > clarity(before);
}

}  // namespace

void NearestShare::add(const BudgetUse& use) {
  if (use.inexact == 0) return;
  const auto inexact = static_cast<double>(use.inexact);
  const double weight = std::fmin(1, kMostElements / inexact);
  elements += weight * inexact;
  far += weight * static_cast<double>(use.far);
}

void KernelReport::add(const CaseResult& result, const KernelCase& kernel_case) {
  ++cases;
  use.add(result.use);
  nearest.add(result.use);
  if (result.worst && (cases == 1 || result.worst->used > worst.used)) {
    worst = *result.worst;
    worst_shape = result.bad.shape;
    worst_case = kernel_case;
  }
  const bool has_ties = kernel_case.inputs == Hostile::ties;
  if (has_ties) ties.add(result.use);
  // Few elements have a mean of 0 only if they are drawn independently: normal inputs run in each
  // layout.
  const bool are_drawn_once = kernel_case.inputs != Hostile::normal &&
                              kernel_case.inputs != Hostile::equal &&
                              !kernel_case.contract.in_place;
  const bool rounds_once = rounds_only_when_stored(kernel_case.contract);
  if (are_drawn_once && rounds_once) drawn_once.add(result.first_use);
  // Other kinds may repeat few values, whose rounding errors do not average out.
  const bool is_normal = kernel_case.inputs == Hostile::normal;
  if (rounds_once && is_normal && result.row_bias.ulps() > row_bias.ulps()) {
    row_bias = result.row_bias;
    row_bias_case = kernel_case;
  }
  for (std::size_t i = 0; i < tails.size(); ++i) {
    if (are_drawn_once) tails[i].add(result.tails[i]);
    if (has_ties) tail_ties[i].add(result.tails[i]);
  }
  for (std::size_t i = 0; i < kImpostors; ++i) {
    if (result.impostors[i] == ImpostorResult::not_tried) continue;
    ++impostors[i].tried;
    if (result.impostors[i] != ImpostorResult::accepted) continue;
    if (impostors[i].accepted++ == 0) impostors[i].first = kernel_case;
  }
  if (!result.fault) return;
  add(*result.fault, result.message, kernel_case);
  if (result.bad.wrong.empty()) return;
  for (KernelFinding& finding : findings) {
    if (finding.fault != *result.fault || !tells_more(result.bad, finding.bad)) continue;
    finding.bad = result.bad;
    finding.bad_case = kernel_case;
  }
}

void KernelReport::judge_bias() {
  std::string message = bias_of(use);
  if (message.empty() && !(message = bias_of(ties)).empty()) {
    message = "of exact ties, " + message + ", ties to even";
  }
  if (message.empty()) message = oddness_of(ties);
  if (message.empty()) message = farness_of(nearest);
  if (message.empty()) message = bias_of_close(drawn_once);
  for (std::size_t i = 0; i < tails.size() && message.empty(); ++i) {
    message = fault_of_tail(tails[i], tail_ties[i]);
    if (message.empty()) continue;
    message = std::string("in the last n % ") + (i < 2 ? "8" : "4") + " elements of " +
              (i % 2 == 0 ? "the output" : "each row") + ", " + message;
  }
  if (!message.empty()) return add(Fault::biased, message, worst_case);
  message = fault_of_row(row_bias);
  if (!message.empty()) add(Fault::biased, message, row_bias_case);
}

std::vector<std::string> KernelReport::warnings() const {
  std::vector<std::string> all;
  for (const Impostor impostor : kAllImpostors) {
    const ImpostorCount& count = impostors[static_cast<std::size_t>(impostor)];
    if (count.tried == 0 || count.accepted < count.tried) continue;
    all.push_back("no case tells the kernel from " + std::string(name(impostor)) + ": " +
                  (count.tried == 1 ? "the one" : "each of " + std::to_string(count.tried)) +
                  " that tried accepts it");
  }
  return all;
}

void KernelReport::add(Fault fault, const std::string& message, const KernelCase& kernel_case) {
  for (KernelFinding& finding : findings) {
    if (finding.fault != fault) continue;
    ++finding.cases;
    return;
  }
  findings.push_back({.fault = fault, .message = message, .first = kernel_case});
}

}  // namespace halfgrad::testing
