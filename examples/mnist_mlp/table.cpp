#include "table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include <fmt/core.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/table.h>
#include <halfgrad/programs/terminal.h>

#include "tasks.h"

namespace {

using Reports = std::span<const TrainingReport>;

double mean(Reports reports, const std::function<double(const TrainingReport&)>& figure) {
  double sum = 0;
  for (const TrainingReport& report : reports) sum += figure(report);
  return sum / static_cast<double>(reports.size());
}

double test_score(const TrainingReport& report) { return report.test_score; }

/// Prints "97.85 %", or mean and standard deviation over several seeds: "97.85 ± 0.12 %".
std::string accuracy(Reports reports) {
  const double centre = mean(reports, test_score);
  if (reports.size() == 1) return fmt::format("{:.2f} %", 100 * centre);
  const double squares = mean(reports, [centre](const TrainingReport& report) {
    return (report.test_score - centre) * (report.test_score - centre);
  });
  const auto n = static_cast<double>(reports.size());
  return fmt::format("{:.2f} ± {:.2f} %", 100 * centre, 100 * std::sqrt(squares * n / (n - 1)));
}

/// Prints a mean over the seeds, or "-" for a training without a GradScaler.
std::string scaler_figure(Reports reports,
                          const std::function<double(const TrainingReport&)>& figure) {
  return reports[0].last().scale ? fmt::format("{:g}", mean(reports, figure)) : "-";
}

std::vector<std::string> row_of(Reports reports) {
  const double bytes =
      mean(reports, [](const auto& report) { return static_cast<double>(report.peak_bytes); });
  return {
      std::string(reports[0].precision),
      accuracy(reports),
      fmt::format("{:.4g}", mean(reports, [](const auto& r) { return std::abs(r.last().loss); })),
      scaler_figure(reports, [](const auto& r) { return *r.last().scale; }),
      scaler_figure(reports, [](const auto& r) { return static_cast<double>(r.last().skipped); }),
      fmt::format("{:.2f} ms", 1e3 * mean(reports, [](const auto& r) { return r.median_step; })),
      fmt::format("{:.1f} MiB", bytes / (1 << 20))};
}

/// Percentage of the weights that the last update did not change, in the first training with that
/// precision. For fp16-masters these are the masters.
std::optional<double> unchanged(Reports reports, const std::string& precision) {
  for (const TrainingReport& report : reports)
    if (report.precision == precision && report.moved_weights)
      return 100 * (1 - *report.moved_weights);
  return std::nullopt;
}

void explain_pure(Reports reports, const Options& options) {
  const auto fp32 = unchanged(reports, "fp32");
  const auto pure = unchanged(reports, "fp16-pure");
  const auto masters = unchanged(reports, "fp16-masters");
  if (!pure && !masters) return;
  std::string text = "\n  Share of the weights that the last update did not change:\n";
  if (fp32) text += fmt::format("    fp32          {:.0f} %\n", *fp32);
  if (pure) text += fmt::format("    fp16-pure     {:.0f} %\n", *pure);
  if (masters) text += fmt::format("    fp16-masters  {:.0f} % of its fp32 masters\n", *masters);
  text += "  An update below half the spacing of fp16 values does not change an fp16 weight.\n";
  programs::print_wrapped(text, 2);
  if (pure && options.optimizer != "sgd")
    programs::print_wrapped(
        "  The Adam of fp16-pure needs eps 1e-4: with 1e-8, squared gradients that fp16 rounds to "
        "zero give infinite updates, and the loss is NaN within an epoch.\n",
        2);
}

}  // namespace

void print_digits_table(const std::vector<TrainingReport>& reports, const Options& options) {
  const programs::Table table({{.header = "precision", .width = 12, .is_text = true},
                               {.header = "test\naccuracy", .width = options.seeds > 1 ? 14 : 8},
                               {.header = "final\nloss", .width = 8, .rank = 1},
                               {.header = "final\nscale", .width = 6, .rank = 2},
                               {.header = "\nskipped", .rank = 3},
                               {.header = "median\nstep", .width = 8, .rank = 4},
                               {.header = "peak\nmemory", .width = 8, .rank = 5}},
                              2);
  fmt::print("\n");
  table.print_header();
  for (auto first = reports.begin(); first != reports.end();) {
    const auto last = std::find_if(first, reports.end(), [&](const TrainingReport& report) {
      return report.precision != first->precision;
    });
    table.print_row(row_of({first, last}));
    first = last;
  }
  table.print_left_out();
  explain_pure(reports, options);
}

void print_underflow_table(const std::vector<UnderflowReport>& reports) {
  const programs::Table table({{.header = "precision", .width = 12, .is_text = true},
                               {.header = "test\nR²", .width = 6},
                               {.header = "final\nloss", .width = 8, .rank = 2},
                               {.header = "final\nscale", .width = 6, .rank = 3},
                               {.header = "\nskipped", .rank = 4},
                               {.header = "dL/dy = 0:\nfirst epoch"},
                               {.header = "\nlast epoch", .rank = 1}},
                              2);
  fmt::print("\n");
  table.print_header();
  for (const UnderflowReport& report : reports) {
    const Reports training(&report.training, 1);
    const TrainingReport& only = report.training;
    table.print_row(
        {std::string(only.precision), fmt::format("{:.3f}", programs::printed(only.test_score)),
         fmt::format("{:.3g}", programs::printed(only.last().loss)),
         scaler_figure(training, [](const auto& r) { return *r.last().scale; }),
         scaler_figure(training,
                       [](const auto& r) { return static_cast<double>(r.last().skipped); }),
         fmt::format("{:.1f} %", 100 * report.first_flushed),
         fmt::format("{:.1f} %", 100 * report.last_flushed)});
  }
  table.print_left_out();
  programs::print_wrapped(
      "\n  Why: dL/dy = 2 (y - t) / (128 x 784), and fp16 rounds magnitudes up to 2^-25 = 3.0e-8 "
      "to zero, which is every error |y - t| up to 1.5 mm. The membrane sags by 0.64 mm at most: "
      "without scaling not one weight moves. Multiplied by 65536, the same gradients are within "
      "fp16's range.\n",
      2);
}
