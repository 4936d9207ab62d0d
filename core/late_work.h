#pragma once

#include <functional>
#include <span>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/core/stream.h>

/// Late work is work on a second stream for which neither the host nor the current stream waits
/// until something uses the same memory again.
///
/// The memory that late work reads or writes is marked in its Storage. Storage::data(), through
/// which every access goes, makes the current stream wait for the last work that uses the memory.
/// Memory that is freed meanwhile is reused only after that.
///
/// Late work belongs to its home, the stream that was current when it was queued. An Event of the
/// home, a wait of the host for it, and a Graph that it captures or replays include the work.
namespace halfgrad::detail {

/// Calls `queue` with `stream` current, behind all work of the current stream. `used` is the memory
/// that the work reads or writes. It may read `constant` too, which nothing overwrites.
void run_late(const Stream& stream, std::vector<Storage*> used, std::span<const Array> constant,
              const std::function<void()>& queue);

/// Makes `home` wait for all late work that belongs to it.
void join_late_work(const Stream& home);

/// True while late work that uses the memory belongs to a home that has not waited for it.
bool has_late_work(const Storage& storage);

/// For Storage: frees the memory after the late work that uses it.
void free_after_late_work(Storage& storage) noexcept;

}  // namespace halfgrad::detail
