#include "progress.h"

#include <cmath>
#include <cstdio>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "training.h"

Progress::Progress(std::string label, ScoreText score_text, std::int64_t epochs, std::int64_t steps)
    : label_(std::move(label)),
      score_text_(score_text),
      epochs_(epochs),
      steps_(steps),
      is_terminal_(isatty(STDOUT_FILENO) == 1) {}

std::string Progress::figures(std::int64_t epoch, const EpochReport& report) const {
  std::string text = fmt::format("epoch {:>2}/{}  loss {:<9.3g} {}", epoch, epochs_,
                                 std::abs(report.loss), score_text_(report.score));
  if (report.scale) text += fmt::format("  scale {:g}  skipped {}", *report.scale, report.skipped);
  return text;
}

void Progress::show(std::int64_t epoch, std::int64_t step, const EpochReport& report) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_terminal_ || (now < next_show_ && step < steps_)) return;
  next_show_ = now + std::chrono::milliseconds(100);
  constexpr std::int64_t width = 10;
  std::string bar;
  for (std::int64_t i = 0; i < width; ++i) bar += i * steps_ < step * width ? "━" : "┈";
  fmt::print("\r  {:<13}{}  {}\033[K", label_, bar, figures(epoch, report));
  std::fflush(stdout);
}

void Progress::end_epoch(std::int64_t epoch, const EpochReport& report) {
  if (is_terminal_) return;
  fmt::print("  {:<13}{}\n", label_, figures(epoch, report));
  std::fflush(stdout);
}

void Progress::end() const {
  if (is_terminal_) fmt::print("\n");
}
