#include "table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <fmt/core.h>

#include "tasks.h"

namespace {

using Reports = std::span<const TrainingReport>;

double mean(Reports reports, const std::function<double(const TrainingReport&)>& figure) {
  double sum = 0;
  for (const TrainingReport& report : reports) sum += figure(report);
  return sum / static_cast<double>(reports.size());
}

double test_score(const TrainingReport& report) { return report.test_score; }

/// "97.85 %", of several seeds "97.85 ± 0.12 %" with the standard deviation.
std::string accuracy(Reports reports) {
  const double centre = mean(reports, test_score);
  if (reports.size() == 1) return fmt::format("{:.2f} %", 100 * centre);
  const double squares = mean(reports, [centre](const TrainingReport& report) {
    return (report.test_score - centre) * (report.test_score - centre);
  });
  const auto n = static_cast<double>(reports.size());
  return fmt::format("{:.2f} ± {:.2f} %", 100 * centre, 100 * std::sqrt(squares * n / (n - 1)));
}

/// A figure that only a training with a GradScaler has.
std::string of_scaler(Reports reports, const std::function<double(const TrainingReport&)>& figure) {
  return reports[0].last().scale ? fmt::format("{:g}", mean(reports, figure)) : "-";
}

void print_row(Reports reports) {
  fmt::print(
      "  {:<13} {:>15} {:>12.4g} {:>13} {:>9} {:>10.2f} ms {:>9.1f} MiB\n", reports[0].precision,
      accuracy(reports),
      mean(reports, [](const auto& report) { return std::abs(report.last().loss); }),
      of_scaler(reports, [](const auto& report) { return *report.last().scale; }),
      of_scaler(reports,
                [](const auto& report) { return static_cast<double>(report.last().skipped); }),
      1e3 * mean(reports, [](const auto& report) { return report.median_step; }),
      mean(reports, [](const auto& report) { return static_cast<double>(report.peak_bytes); }) /
          (1 << 20));
}

/// What the weights of the first training in that precision did in its last update.
std::optional<double> unmoved(Reports reports, const std::string& precision) {
  for (const TrainingReport& report : reports)
    if (report.precision == precision) return 100 * (1 - report.moved_weights);
  return std::nullopt;
}

void explain_pure(Reports reports, const Options& options) {
  const auto pure = unmoved(reports, "fp16-pure");
  if (!pure) return;
  const auto beside = [&](const std::string& what, const std::string& precision) {
    const auto share = unmoved(reports, precision);
    return share ? fmt::format(", {} {:.0f} %", what, *share) : "";
  };
  fmt::print(
      "\n  Without fp32 master weights, fp16-pure's last update left {:.0f} % of its weights "
      "unmoved{}{}:\n  an update below half the spacing of fp16 numbers is lost.\n",
      *pure, beside("fp32's", "fp32"), beside("and of fp16-masters' masters", "fp16-masters"));
  if (options.optimizer != "sgd")
    fmt::print(
        "  Its Adam needs eps 1e-4: with 1e-8, squared gradients that fp16 rounds to zero give "
        "infinite\n"
        "  updates, and the loss is NaN within an epoch.\n");
}

}  // namespace

void print_digits_table(const std::vector<TrainingReport>& reports, const Options& options) {
  fmt::print("\n  {:<13} {:>15} {:>12} {:>13} {:>9} {:>13} {:>13}\n", "precision", "test accuracy",
             "final loss", "final scale", "skipped", "median step", "peak memory");
  for (auto first = reports.begin(); first != reports.end();) {
    const auto last = std::find_if(first, reports.end(), [&](const TrainingReport& report) {
      return report.precision != first->precision;
    });
    print_row({first, last});
    first = last;
  }
  explain_pure(reports, options);
}

void print_underflow_table(const std::vector<UnderflowReport>& reports) {
  fmt::print("\n  {:<13} {:>8} {:>12} {:>13} {:>9}   {}\n", "precision", "test R²", "final loss",
             "final scale", "skipped", "dL/dy = 0: first, last epoch");
  for (const UnderflowReport& report : reports) {
    const Reports training(&report.training, 1);
    fmt::print(
        "  {:<13} {:>7.3f} {:>12.3g} {:>13} {:>9} {:>12.1f} % {:>10.1f} %\n",
        report.training.precision, report.training.test_score, report.training.last().loss,
        of_scaler(training, [](const auto& r) { return *r.last().scale; }),
        of_scaler(training, [](const auto& r) { return static_cast<double>(r.last().skipped); }),
        100 * report.first_flushed, 100 * report.last_flushed);
  }
  fmt::print(
      "\n  Why: dL/dy = 2 (y - t) / (128 x 784), and fp16 rounds magnitudes up to 2^-25 = 3.0e-8 "
      "to zero,\n"
      "  which is every error |y - t| up to 1.5 mm. The membrane sags by 0.64 mm at most: without "
      "scaling\n"
      "  not one weight moves. Multiplied by 65536, the same gradients are within fp16's range.\n");
}
