#include <halfgrad/testing/distribution_report.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include <halfgrad/testing/json_text.h>

namespace halfgrad::testing {
namespace {

/// a log(a / b), which is 0 for a = 0.
double term(double a, double b) { return a == 0 ? 0 : a * std::log(a / b); }

/// The text of a small probability e^x, whose double may be 0.
std::string power_of_ten(double log_probability) {
  const double exponent = std::max(-1e9, std::floor(log_probability / std::log(10.0)));
  return "1e" + std::to_string(static_cast<std::int64_t>(exponent));
}

}  // namespace

double log_binomial_tail(std::int64_t successes, std::int64_t n, double p) {
  if (n == 0) return 0;
  const double share = static_cast<double>(successes) / static_cast<double>(n);
  return -static_cast<double>(n) * (term(share, p) + term(1 - share, 1 - p));
}

bool DistributionReport::counted(std::string_view fault) {
  for (DistributionFinding& known : findings_) {
    if (known.fault != fault) continue;
    ++known.count;
    return true;
  }
  return false;
}

void DistributionReport::expect_binomial(std::string_view fault, std::int64_t successes,
                                         std::int64_t n, double p, const std::string& what) {
  constexpr double kRounding = 0x1p-20, kRelativeRounding = 0x1p-12;
  ++tests_;
  const double slack = kRounding + kRelativeRounding * p;
  const double share =
      static_cast<double>(successes) / static_cast<double>(std::max<std::int64_t>(n, 1));
  const double nearest = std::clamp(share, std::max(0.0, p - slack), std::min(1.0, p + slack));
  const double log_tail = log_binomial_tail(successes, n, nearest);
  if (log_tail >= std::log(kFalseAlarm / 2)) return;  // both sides are tested
  add(fault, [&] {
    return what + " " + std::to_string(successes) + " of " + std::to_string(n) +
           " times, expected a share of " + number_text(p, 6) + "; a right kernel does so with " +
           "a probability below " + power_of_ten(log_tail);
  });
}

std::string to_text(const DistributionReport& report) {
  std::ostringstream out;
  out << report.kernel() << ": " << (report.passed() ? "passed" : "FAILED") << ", "
      << report.samples() << " samples, " << report.tests()
      << " tests; a right kernel fails with a probability below "
      << number_text(report.false_alarm(), 2) << '\n';
  for (const DistributionFinding& finding : report.findings()) {
    out << "  " << finding.fault << ", " << finding.count
        << (finding.count > 1 ? " times" : " time") << "; first: " << finding.message << '\n';
  }
  return out.str();
}

std::string to_json(const DistributionReport& report) {
  const auto finding = [](const DistributionFinding& each) {
    return "{\"fault\": " + json_string(each.fault) +
           ", \"message\": " + json_string(each.message) +
           ", \"count\": " + std::to_string(each.count) + "}";
  };
  return "{\"schema_version\": 1, \"kernel\": " + json_string(report.kernel()) +
         ", \"passed\": " + (report.passed() ? "true" : "false") +
         ", \"samples\": " + std::to_string(report.samples()) +
         ", \"tests\": " + std::to_string(report.tests()) +
         ", \"false_alarm\": " + json_number(report.false_alarm()) + ", \"findings\": [" +
         joined(report.findings(), finding) + "]}";
}

}  // namespace halfgrad::testing
