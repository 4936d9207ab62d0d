#include "progress.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/core.h>

#include "training.h"

Progress::Progress(std::string label, ScoreText score_text, std::int64_t epochs, std::int64_t steps)
    : label_(std::move(label)), score_text_(score_text), epochs_(epochs), steps_(steps) {}

std::string Progress::line(std::int64_t epoch, const EpochReport& report,
                           const std::string& bar) const {
  std::vector<programs::Segment> parts{{.text = fmt::format("  {:<12}", label_)}};
  if (!bar.empty()) parts.push_back({.text = bar, .rank = 2});
  parts.push_back({.text = fmt::format("epoch {:>2}/{}", epoch, epochs_)});
  parts.push_back({.text = fmt::format("loss {:<7.3g}", std::abs(report.loss))});
  parts.push_back({.text = score_text_(report.score), .rank = 1});
  if (report.scale) {
    parts.push_back({.text = fmt::format("scale {:g}", *report.scale), .rank = 3});
    parts.push_back({.text = fmt::format("skipped {}", report.skipped), .rank = 4});
  }
  return programs::fitted(std::move(parts), programs::columns() - 1);  // a full line may wrap
}

void Progress::show(std::int64_t epoch, std::int64_t step, const EpochReport& report) {
  const auto now = std::chrono::steady_clock::now();
  if (!can_redraw_ || (now < next_show_ && step < steps_)) return;
  next_show_ = now + std::chrono::milliseconds(100);
  constexpr std::int64_t width = 10;
  std::string bar;
  for (std::int64_t i = 0; i < width; ++i) bar += i * steps_ < step * width ? "━" : "┈";
  fmt::print("\r{}\033[K", line(epoch, report, bar));
  std::fflush(stdout);
}

void Progress::end_epoch(std::int64_t epoch, const EpochReport& report) {
  if (can_redraw_) return;
  fmt::print("{}\n", line(epoch, report, ""));
  std::fflush(stdout);
}

void Progress::clear() const {
  if (!can_redraw_) return;
  fmt::print("\r\033[K");
  std::fflush(stdout);
}

void Progress::end() const {
  if (can_redraw_) fmt::print("\n");
}
