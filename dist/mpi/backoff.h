#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace halfgrad::dist {

/// The pauses of a thread that polls for messages. At first there is none, for the shortest
/// latency. Then the thread sleeps, longer and longer, so that the program's own threads have the
/// core: at its longest, polling takes about a hundredth of the core's time. If one of them waits
/// for the message, its core is free, and for a while this thread only yields to others.
class Backoff {
 public:
  void pause(bool is_awaited) {
    const auto waited = std::chrono::steady_clock::now() - start_;
    if (waited < kNoPause) return;
    if (is_awaited && waited < kYields) return std::this_thread::yield();
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min<std::chrono::microseconds>(sleep_ * 2, kLongest);
  }

 private:
  static constexpr std::chrono::microseconds kNoPause{50}, kYields{5000}, kLongest{200};

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::microseconds sleep_{20};
};

}  // namespace halfgrad::dist
