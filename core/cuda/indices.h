#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/core/array.h>

/// Indices that a GPU reads cannot be refused by the host without waiting for them. So the check is
/// queued like all other work, and the op goes on with index 0 where one is out of range: nothing
/// outside an array is ever touched, but what follows is wrong. The report lies in pinned memory
/// until the host next waits for that GPU, be it for item(), a copy to the CPU or synchronize() of
/// a stream, an event or the device: that call throws std::out_of_range, naming the op that was
/// given the index. One report is kept at a time; those that come before it is read are dropped.
/// The GPU stays usable.
namespace halfgrad::detail {

/// Contiguous int64 indices on a GPU, checked to be in [0, size), size > 0; those equal to
/// `ignored` become -1. `op` must live as long as the process.
Array checked_indices_on_cuda(const char* op, const Array& index, std::int64_t size,
                              std::optional<std::int64_t> ignored = {});

/// Throws, and forgets, what the device has reported; for the host, when it has waited for it.
void throw_reported_index(Device device);

}  // namespace halfgrad::detail
