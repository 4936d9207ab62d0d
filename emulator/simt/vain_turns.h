#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace halfgrad::emulator {

/// Turns of one cluster that only polled memory, since a turn of any cluster did more.
struct VainTurnsOfCluster {
  std::uint64_t period = 0;  ///< see VainTurns
  std::uint64_t turns = 0;
};

/// Finds out that all clusters which run poll memory that nothing changes. A period lasts from one
/// turn that did more than poll to the next. Each cluster must have polled often in the period, so
/// one whose host thread is slow is waited for. Thread-safe.
class VainTurns {
 public:
  /// A turn did more than poll.
  void progress() {
    if (!any_.load(std::memory_order_relaxed)) return;
    const std::lock_guard lock(mutex_);
    ++period_;
    turns_ = clusters_ = 0;
    any_.store(false, std::memory_order_relaxed);
  }

  /// Counts a turn of a cluster. Returns whether `clusters`, all that run, have polled in vain for
  /// two seconds, or for `most` turns.
  bool add(VainTurnsOfCluster& own, std::uint64_t clusters, std::uint64_t most) {
    using namespace std::chrono;
    const std::lock_guard lock(mutex_);
    any_.store(true, std::memory_order_relaxed);
    if (own.period != period_) own = {period_, 0};
    if (++own.turns == kFewTurns) ++clusters_;
    const auto now = steady_clock::now();
    if (++turns_ == 1) begin_ = now;
    return clusters_ >= clusters && (turns_ > most || now - begin_ > kLongest);
  }

 private:
  static constexpr std::uint64_t kFewTurns = 64;  ///< each cluster must have had as many
  static constexpr std::chrono::seconds kLongest{2};

  std::mutex mutex_;
  std::atomic<bool> any_{false};
  std::uint64_t period_ = 1, turns_ = 0, clusters_ = 0;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace halfgrad::emulator
