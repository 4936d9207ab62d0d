#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>

/// How kernels tell the host of an index out of range: indices.h.
namespace halfgrad::detail {

struct BadIndex {
  const char* op;  // the host's; the device passes it on
  std::int64_t index;
  std::int64_t size;
};

/// Lies in pinned memory. A device thread that finds it free claims it, writes what it found, and
/// says so only when the host is sure to see all of that. While one stream is waited for, a kernel
/// of another may stand anywhere between.
struct IndexReport {
  static constexpr unsigned kFree = 0, kClaimed = 1, kWritten = 2;
  unsigned state = kFree;
  BadIndex found{};
};

/// What has been written, to one of the threads that ask at once; nothing if it is not complete.
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
