#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace halfgrad::dist {

/// Pauses between questions whether something has arrived. At first the thread only yields its core
/// to others, for the shortest latency. Then it sleeps, longer and longer, so that the program's
/// own threads have the core: at its longest, asking takes about a hundredth of the core's time.
class Backoff {
 public:
  void pause() {
    if (std::chrono::steady_clock::now() < sleeps_from_) {
      std::this_thread::yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min<std::chrono::microseconds>(sleep_ * 2, kLongest);
  }

 private:
  static constexpr std::chrono::microseconds kLongest{200};

  std::chrono::steady_clock::time_point sleeps_from_ =
      std::chrono::steady_clock::now() + std::chrono::microseconds(500);
  std::chrono::microseconds sleep_{20};
};

}  // namespace halfgrad::dist
