#pragma once

#include <chrono>
#include <cstdint>
#include <string>

struct EpochReport;

/// Shows how a training goes: on a terminal a bar that is redrawn in place, elsewhere a line for
/// each epoch.
class Progress {
 public:
  using ScoreText = std::string (*)(double);
  Progress(std::string label, ScoreText score_text, std::int64_t epochs, std::int64_t steps);

  void show(std::int64_t epoch, std::int64_t step, const EpochReport& report);
  void end_epoch(std::int64_t epoch, const EpochReport& report);
  void end() const;

 private:
  std::string figures(std::int64_t epoch, const EpochReport& report) const;

  std::string label_;
  ScoreText score_text_;
  std::int64_t epochs_, steps_;
  bool is_terminal_;
  std::chrono::steady_clock::time_point next_show_{};
};
