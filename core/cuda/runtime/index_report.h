#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

/// The report of a kernel to the host about an index out of range: see indices.h.
namespace halfgrad::detail {

/// An index outside [0, size), and the op that was given it.
struct BadIndex {
  const char* op;  // in host memory: the device copies the pointer only
  std::int64_t index;
  std::int64_t size;
};

/// A report in pinned memory. A device thread that finds it free claims it, writes `found`, and
/// sets kWritten after a fence, so that the host sees all of it. While the host waits for one
/// stream, a kernel of another stream may be between these steps.
struct IndexReport {
  static constexpr unsigned kFree = 0, kClaimed = 1, kWritten = 2;
  unsigned state = kFree;
  BadIndex found{};
};

/// Takes a complete report and frees it; returns nothing if there is none. If several threads call
/// it at once, one of them gets the report.
inline std::optional<BadIndex> take(IndexReport& report) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const std::atomic_ref<unsigned> state(report.state);
  if (state.load(std::memory_order_acquire) != IndexReport::kWritten) return {};
  const BadIndex found = report.found;
  state.store(IndexReport::kFree, std::memory_order_release);
  return found;
}

}  // namespace halfgrad::detail
