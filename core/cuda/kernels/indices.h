#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/core/array.h>

/// Range checks of indices on a GPU.
///
/// The host cannot check a GPU's indices without waiting for them. So the check is queued like all
/// other work, and the op continues with index 0 in place of one out of range: nothing outside an
/// array is accessed, but the result is wrong. A report stays in pinned memory until the host next
/// waits for that GPU, in item(), a copy to the CPU or synchronize() of a stream, an event or the
/// device. That call throws std::out_of_range, which names the op that was given the index. One
/// report is kept at a time; others are dropped until it is read. The GPU stays usable.
namespace halfgrad::detail {

/// Returns a copy of contiguous int64 indices on a GPU, and queues the check that they are in
/// [0, size), size > 0. Those equal to `ignored` become -1. `op` must live as long as the process.
Array checked_indices_on_cuda(const char* op, const Array& index, std::int64_t size,
                              std::optional<std::int64_t> ignored = {});

/// Throws the device's report, if there is one, and clears it. Call it after the host has waited
/// for the device.
void throw_reported_index(Device device);

}  // namespace halfgrad::detail
