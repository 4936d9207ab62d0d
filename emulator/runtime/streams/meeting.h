#pragma once

#include <vector>

#include <halfgrad/emulator/checks/operation_order.h>
#include <halfgrad/emulator/runtime/streams/clock.h>

namespace halfgrad::emulator {

/// The part of one rank in a collective: a task that runs only when its partners, tasks of other
/// chains, have begun, too. On a GPU each part is a kernel that waits for the others.
///
/// The scheduler calls all members but run() with its mutex held, so they may not call the runtime.
class Meeting {
 public:
  Meeting() = default;
  virtual ~Meeting() = default;
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  /// The task has got its place in a chain. Ranks are matched in the order of these calls.
  virtual void given(OperationId operation, Position position) = 0;
  /// All that comes before the task is complete. Returns whether its partners have begun, too.
  virtual bool begin() = 0;
  /// Adds the places of the partners that are known.
  virtual void add_partners(std::vector<Position>& places) const = 0;
  /// Nothing has happened for long: reports which rank is missing, and lets the task end.
  virtual void give_up() = 0;

  virtual void run(OperationId operation) = 0;
};

}  // namespace halfgrad::emulator
