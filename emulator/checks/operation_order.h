#pragma once

#include <cstdint>

namespace halfgrad::emulator {

/// A piece of work that a stream or the host does: a launch, a copy, a memset, a library call, or
/// the host's own accesses between two waits. Numbered from 1 in the order in which programs issue
/// them.
using OperationId = std::uint32_t;

/// Order of operations by streams, events, waits of the host, and graphs' edges.
/// The order in which the emulator runs them does not matter.
class OperationOrder {
 public:
  virtual ~OperationOrder() = default;
  /// Whether `earlier` is complete before `later` begins, whatever the GPU does.
  virtual bool ordered(OperationId earlier, OperationId later) const = 0;
  /// Whether `later` is a programmatic dependent launch that `earlier` may run beside: before a
  /// block of `later` has `waited` by griddepcontrol.wait, or even after.
  virtual bool overlaps(OperationId /*earlier*/, OperationId /*later*/, bool /*waited*/) const {
    return false;
  }
  /// A block of the launch has executed griddepcontrol.wait.
  virtual void note_wait(OperationId /*launch*/) const {}
  /// For messages: "kernel map_packs on stream 2", "cudaMemcpyAsync on stream 0".
  virtual const char* describe(OperationId operation) const = 0;
};

}  // namespace halfgrad::emulator
