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
  return reports[0].last().scale == 1 ? "-" : fmt::format("{:g}", mean(reports, figure));
}

void print_row(Reports reports) {
  fmt::print(
      "  {:<13} {:>15} {:>12.4g} {:>13} {:>9} {:>10.2f} ms {:>9.1f} MiB\n", reports[0].precision,
      accuracy(reports),
      mean(reports, [](const auto& report) { return std::abs(report.last().loss); }),
      of_scaler(reports, [](const auto& report) { return report.last().scale; }),
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

void explain_pure(Reports reports) {
  const auto pure = unmoved(reports, "fp16-pure"), fp32 = unmoved(reports, "fp32");
  if (!pure) return;
  fmt::print(
      "\n  fp16-pure has no fp32 master weights. In its last update {:.0f} % of its weights did "
      "not move{}:\n"
      "  an update below half the spacing of fp16 numbers is lost. And its Adam needs eps 1e-4: "
      "with\n"
      "  1e-8, squared gradients that fp16 rounds to zero make the loss NaN within an epoch.\n",
      *pure, fp32 ? fmt::format(" (fp32: {:.0f} %)", *fp32) : "");
}

}  // namespace

void print_digits_table(const std::vector<TrainingReport>& reports) {
  fmt::print("\n  {:<13} {:>15} {:>12} {:>13} {:>9} {:>13} {:>13}\n", "precision", "test accuracy",
             "final loss", "final scale", "skipped", "median step", "peak memory");
  for (auto first = reports.begin(); first != reports.end();) {
    const auto last = std::find_if(first, reports.end(), [&](const TrainingReport& report) {
      return report.precision != first->precision;
    });
    print_row({first, last});
    first = last;
  }
  explain_pure(reports);
}

void print_underflow_table(const std::vector<UnderflowReport>& reports) {
  fmt::print("\n  {:<13} {:>8} {:>12} {:>13} {:>9}   {}\n", "precision", "test R²", "final loss",
             "final scale", "skipped", "dL/dy flushed to zero: first, last epoch");
  for (const UnderflowReport& report : reports) {
    const Reports training(&report.training, 1);
    fmt::print(
        "  {:<13} {:>7.3f} {:>12.3g} {:>13} {:>9} {:>15.1f} % {:>10.1f} %\n",
        report.training.precision, report.training.test_score, report.training.last().loss,
        of_scaler(training, [](const auto& r) { return r.last().scale; }),
        of_scaler(training, [](const auto& r) { return static_cast<double>(r.last().skipped); }),
        100 * report.first_flushed, 100 * report.last_flushed);
  }
  fmt::print(
      "\n  Why: dL/dy = 2 (y - t) / (128 x 784), and fp16 rounds all up to 2^-25 = 3.0e-8 to zero, "
      "that is\n"
      "  every error |y - t| up to 1.5 mm, where the membrane sags by 0.64 mm at most: without "
      "scaling\n"
      "  not one weight of the last layer moves. Times 65536 the same gradients are normal fp16 "
      "numbers.\n");
}
