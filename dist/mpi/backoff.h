#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace halfgrad::dist {

/// Pauses between questions whether something has arrived. At first there is no pause, for the
/// shortest latency. Then the thread sleeps, longer and longer, so that the program's own threads
/// have the core: at its longest, asking takes about a hundredth of the core's time. A thread that
/// yields in place of sleeping would wait for the time slices of others, which are milliseconds.
class Backoff {
 public:
  void pause() {
    if (std::chrono::steady_clock::now() < sleeps_from_) return;
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min<std::chrono::microseconds>(sleep_ * 2, kLongest);
  }

 private:
  static constexpr std::chrono::microseconds kLongest{200};

  std::chrono::steady_clock::time_point sleeps_from_ =
      std::chrono::steady_clock::now() + std::chrono::microseconds(50);
  std::chrono::microseconds sleep_{20};
};

}  // namespace halfgrad::dist
