#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/programs/terminal.h>

struct EpochReport;

/// Shows the progress of a training: on a terminal, one line with a bar that is redrawn in place;
/// elsewhere a line for each epoch.
class Progress {
 public:
  using ScoreText = std::string (*)(double);
  Progress(std::string label, ScoreText score_text, std::int64_t epochs, std::int64_t steps);

  void show(std::int64_t epoch, std::int64_t step, const EpochReport& report);
  void end_epoch(std::int64_t epoch, const EpochReport& report);
  void clear() const;  ///< clears a line that is redrawn, so that others can be printed
  void end() const;

 private:
  std::string line(std::int64_t epoch, const EpochReport& report, const std::string& bar) const;

  std::string label_;
  ScoreText score_text_;
  std::int64_t epochs_, steps_;
  bool can_redraw_ = programs::can_redraw();
  std::chrono::steady_clock::time_point next_show_{};
};
