#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/emulator/simt/child_launches.h>
#include <halfgrad/emulator/simt/lane_call.h>

namespace halfgrad::emulator {

// Parts of the device runtime: each function runs one call of one lane.

/// Values of cudaError_t.
enum DeviceError : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kMaxDepthExceeded = 65,
  kInvalidDeviceFunction = 98,
  kInvalidResourceHandle = 400,
  kOutOfResources = 701,
};

ChildLaunches& children_of(const LaneCall& call);
/// Number of the block in its grid.
std::uint64_t block_of(const LaneCall& call);
/// Returns the error to the caller, who may ask for it later, too.
void finish(LaneCall& call, int error);
/// The kernel that a thread names by its address; nullptr: none.
const Kernel* kernel_named(LaneCall& call, std::uint64_t address);
/// Returns memory of the family, or 0. Earlier uses of it are over.
std::uint64_t allocate_of_family(LaneCall& call, std::size_t bytes);
/// The stream that a handle means; an error if it is none of the grid's. `per_thread`: handle 0 is
/// the thread's own stream.
int find_stream(LaneCall& call, std::uint64_t handle, bool per_thread, DeviceStream& stream);
void add_work(LaneCall& call, DeviceWork work);

// Launches
void get_parameter_buffer(LaneCall& call);
void get_parameter_buffer_v2(LaneCall& call);
void launch_device(LaneCall& call);
void launch_device_per_thread(LaneCall& call);
void launch_device_v2(LaneCall& call);
void launch_device_v2_per_thread(LaneCall& call);

// Streams and events
void create_stream(LaneCall& call);
void destroy_stream(LaneCall& call);
void create_event(LaneCall& call);
void destroy_event(LaneCall& call);
void record_event(LaneCall& call);
void record_event_per_thread(LaneCall& call);
void wait_event(LaneCall& call);
void wait_event_per_thread(LaneCall& call);

// Copies and memsets
void copy_memory(LaneCall& call);
void copy_memory_per_thread(LaneCall& call);
void set_memory(LaneCall& call);
void set_memory_per_thread(LaneCall& call);

// Memory, errors, queries
void allocate_memory(LaneCall& call);
void free_memory(LaneCall& call);
void get_last_error(LaneCall& call);
void peek_at_last_error(LaneCall& call);
void error_string(LaneCall& call);
void error_name(LaneCall& call);
void device_attribute(LaneCall& call);
void device_limit(LaneCall& call);
void current_device_of(LaneCall& call);
void device_count(LaneCall& call);
void runtime_version(LaneCall& call);
void active_blocks(LaneCall& call);

}  // namespace halfgrad::emulator
