#pragma once

#include <cstddef>
#include <functional>

#include <halfgrad/core/stream.h>

namespace halfgrad::detail {

/// A kind of memory, as the caching allocator sees it. `request` gives nullptr when there is no
/// more.
struct MemorySource {
  std::function<void*(std::size_t bytes)> request;
  std::function<void(void* block)> release;

  /// Memory that a GPU may still use when the host has freed it also has these, which do not throw.
  /// A mark stands behind the work queued on a stream so far; nullptr: it cannot be set now.
  std::function<void*(const Stream& stream)> mark = nullptr;
  /// Whether that work is done; if so the mark is gone.
  std::function<bool(void* mark)> passed = nullptr;
  /// Waits until that work is done.
  std::function<void(void* mark)> wait = nullptr;
};

}  // namespace halfgrad::detail
