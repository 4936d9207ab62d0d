#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/runtime/streams/clock.h>

namespace halfgrad::emulator {

/// Operations with their place in a chain and the clock of all that comes before them. Operation a
/// is ordered before b if b's clock covers a's position, or both are in one chain, a first.
///
/// Operations that come before every later one (the host waited for them and nothing older is
/// pending) are forgotten: ordered() is true for an operation that the log does not hold. Memory is
/// thus bounded by the operations between two waits. Thread-safe.
///
/// A programmatic dependent launch begins once the kernel before it in its stream has begun, and
/// waits for its end by griddepcontrol.wait. A kernel that never waits may end before the ones that
/// it overlaps, so that the launches after it overlap them, too. Every other operation of the
/// stream waits for them all.
class OperationLog final : public OperationOrder {
 public:
  /// Gives the next number, also to operations that nobody compares, such as records of events.
  OperationId next();
  /// `overlapped`: the kernel that a programmatic dependent launch may run beside, or 0.
  void add(OperationId operation, Position position, SharedClock before, std::string description,
           OperationId overlapped = 0);

  bool ordered(OperationId earlier, OperationId later) const override;
  bool overlaps(OperationId earlier, OperationId later, bool waited) const override;
  void note_wait(OperationId launch) const override;
  const char* describe(OperationId operation) const override;

  /// Whether enough operations were added since the last forget() that another call is worthwhile.
  bool is_long() const;
  /// Forgets the operations that the clock covers.
  void forget(const Clock& everything_live_is_after);
  std::size_t size() const;

 private:
  struct Record {
    Position position;
    SharedClock before;
    const char* description = nullptr;
    OperationId overlapped = 0;
    bool waits = false;  ///< by griddepcontrol.wait, as far as it has run
  };
  bool overlaps(OperationId earlier, const Record& later, bool waited) const;

  mutable std::shared_mutex mutex_;
  mutable std::unordered_map<OperationId, Record> records_;
  std::unordered_set<std::string> descriptions_;
  std::size_t size_after_forget_ = 0;
  std::atomic<OperationId> last_{0};
};

}  // namespace halfgrad::emulator
