#pragma once

#include <cstddef>
#include <functional>

#include <halfgrad/core/stream.h>

namespace halfgrad::detail {

/// A kind of memory, as the caching allocator needs it. `request` returns nullptr if the memory is
/// exhausted.
struct MemorySource {
  std::function<void*(std::size_t bytes)> request;
  std::function<void(void* block)> release;

  /// Says that the old contents of a block, which is about to be used again, have no meaning: a
  /// checker of memory may report reads of them. May be empty.
  std::function<void(void* block, std::size_t bytes)> forget_contents = nullptr;

  // The functions below are set for memory that a GPU may still use after the host frees it. They
  // must not throw.

  /// Records an event after the work queued on a stream so far, or returns nullptr if that is
  /// impossible now.
  std::function<void*(const Stream& stream)> record_event = nullptr;
  /// Returns whether that work is done; if so, destroys the event.
  std::function<bool(void* event)> event_done = nullptr;
  /// Blocks the host until that work is done.
  std::function<void(void* event)> wait_event = nullptr;
};

}  // namespace halfgrad::detail
