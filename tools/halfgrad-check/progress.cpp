#include "progress.h"

#include <chrono>

#include <fmt/core.h>
#include <unistd.h>

namespace halfgrad::check {
namespace {

bool has_printed = false;

}  // namespace

bool shows_progress() { return ::isatty(STDERR_FILENO) == 1; }

void print_progress(std::int64_t running, std::int64_t total) {
  using Clock = std::chrono::steady_clock;
  static Clock::time_point next = Clock::now() + std::chrono::seconds(1);
  if (Clock::now() < next) return;
  next = Clock::now() + std::chrono::milliseconds(100);
  fmt::print(stderr, "\rcase {} of {} ", running, total);
  has_printed = true;
}

void clear_progress() {
  if (has_printed) fmt::print(stderr, "\r{:40}\r", "");
}

}  // namespace halfgrad::check
