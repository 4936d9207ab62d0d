#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Statistical tests of random kernels, whose alarms are false with a known probability.
namespace halfgrad::testing {

/// Probability at most with which one test accuses a right kernel.
inline constexpr double kFalseAlarm = 1e-15;

/// Chernoff's bound, the probability that a binomial variable of n trials with success probability
/// p is at least as far from n p as `successes`, on its side: exp(-n KL(successes / n, p)).
/// Returns the natural logarithm, at most 0.
double log_binomial_tail(std::int64_t successes, std::int64_t n, double p);

/// A fault of a random kernel, such as a wrong share of zeros, with the number of tests that
/// found it.
struct DistributionFinding {
  std::string fault;       ///< "wrong share", "dependent", ...
  std::string message;     ///< describes the first
  std::int64_t count = 1;  ///< number of tests or elements with this fault
};

/// The result of check_dropout() and check_sampling().
class DistributionReport {
 public:
  explicit DistributionReport(std::string kernel) : kernel_(std::move(kernel)) {}

  const std::string& kernel() const { return kernel_; }
  const std::vector<DistributionFinding>& findings() const { return findings_; }
  bool passed() const { return findings_.empty() && samples_ > 0; }
  std::int64_t samples() const { return samples_; }  ///< random decisions that were judged
  std::int64_t tests() const { return tests_; }      ///< statistical tests
  /// Upper bound of the probability that a right kernel fails.
  double false_alarm() const { return static_cast<double>(tests_) * kFalseAlarm; }

  void add_samples(std::int64_t count) { samples_ += count; }
  /// Adds a finding. `message`, a function, is called for the first of its kind only.
  template <class Message>
  void add(std::string_view fault, const Message& message) {
    if (!counted(fault)) findings_.push_back({std::string(fault), message()});
  }
  /// Tests that `successes` of n independent trials agree with the probability p. Probabilities
  /// within 2^-20 + 2^-12 p of it are allowed for: a kernel rounds them. `what` begins the message.
  void expect_binomial(std::string_view fault, std::int64_t successes, std::int64_t n, double p,
                       const std::string& what);

 private:
  /// Counts one more of a known fault; false if it is new.
  bool counted(std::string_view fault);

  std::string kernel_;
  std::vector<DistributionFinding> findings_;
  std::int64_t samples_ = 0, tests_ = 0;
};

std::string to_text(const DistributionReport& report);
std::string to_json(const DistributionReport& report);

}  // namespace halfgrad::testing
