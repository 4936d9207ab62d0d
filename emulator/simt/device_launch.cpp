// Launches by kernels (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "Device-Side Launch
// from PTX").
#include <cstring>
#include <stdexcept>
#include <utility>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/checks/shadow.h>
#include <halfgrad/emulator/ptx/readable_name.h>
#include <halfgrad/emulator/simt/device_api.h>
#include <halfgrad/emulator/simt/device_calls.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kMostLevels = 24;  ///< depth of grids that launch grids
constexpr std::size_t kMostParameters = 4096;

/// Sizes of a grid or block as the device runtime takes them.
struct Sizes {
  unsigned x = 1, y = 1, z = 1;
  Dim3 dim3() const { return {x, y, z}; }
};

int check(LaneCall& call, const Kernel* kernel, const ParameterBuffer& buffer) {
  if (kernel == nullptr) return kInvalidDeviceFunction;
  if (children_of(call).depth >= kMostLevels) return kMaxDepthExceeded;
  DeviceApi* const api = call.run.launch().machine.device_api;
  if (api == nullptr) return kSuccess;
  std::string why;
  const int error = api->check_launch(*kernel, buffer.grid_size, buffer.block_size,
                                      buffer.dynamic_shared_bytes, why);
  if (error != kSuccess) {
    report(call.execution, call.instruction, call.lane, FindingKind::invalid_call,
           "launch of " + readable_name(kernel->main->name) + ": " + why, 0, "", Severity::note);
  }
  return error;
}

std::uint64_t add_buffer(LaneCall& call, const ParameterBuffer& buffer) {
  const std::uint64_t address = allocate_of_family(call, buffer.bytes);
  if (address == 0) return 0;
  ChildLaunches& children = children_of(call);
  const std::lock_guard lock(children.family.mutex);
  children.buffers[address] = buffer;
  return address;
}

void launch(LaneCall& call, std::uint64_t address, const ParameterBuffer& buffer,
            std::uint64_t handle, bool per_thread) {
  DeviceWork work;
  if (const int error = find_stream(call, handle, per_thread, work.stream)) {
    report(call.execution, call.instruction, call.lane, FindingKind::invalid_call,
           "launch of " + readable_name(buffer.kernel->main->name) +
               " in a stream that this grid has not made",
           0, "", Severity::note);
    return finish(call, error);
  }
  work.module = &call.run.launch().request.module;
  work.kernel = buffer.kernel;
  work.grid_size = buffer.grid_size;
  work.block_size = buffer.block_size;
  work.dynamic_shared_bytes = buffer.dynamic_shared_bytes;
  work.parameters.resize(buffer.kernel->parameter_bytes);
  if (address != 0) {
    const Allocation* const memory = call.run.launch().machine.memory.find(address, 1);
    const std::size_t bytes = std::min(work.parameters.size(), buffer.bytes);
    std::memcpy(work.parameters.data(), memory->host + (address - memory->begin), bytes);
    children_of(call).family.heap.free(address);
  }
  add_work(call, std::move(work));
  finish(call, kSuccess);
}

/// Takes the buffer at an address; false if cudaGetParameterBuffer did not return it.
bool take_buffer(LaneCall& call, std::uint64_t address, ParameterBuffer& buffer) {
  ChildLaunches& children = children_of(call);
  const std::lock_guard lock(children.family.mutex);
  const auto found = children.buffers.find(address);
  if (found == children.buffers.end()) return false;
  buffer = found->second;
  children.buffers.erase(found);
  return true;
}

/// cudaLaunchDeviceV2(buffer, stream)
template <bool PerThread>
void launch_from_buffer(LaneCall& call) {
  ParameterBuffer buffer;
  const std::uint64_t address = call.argument(0);
  if (!take_buffer(call, address, buffer) || buffer.kernel == nullptr) {
    return finish(call, kInvalidValue);
  }
  launch(call, address, buffer, call.argument(1), PerThread);
}

/// cudaLaunchDevice(function, buffer, grid, block, shared, stream)
template <bool PerThread>
void launch_with_sizes(LaneCall& call) {
  ParameterBuffer buffer;
  const std::uint64_t address = call.argument(1);
  if (address != 0 && !take_buffer(call, address, buffer)) return finish(call, kInvalidValue);
  buffer.kernel = kernel_named(call, call.argument(0));
  buffer.grid_size = call.argument<Sizes>(2).dim3();
  buffer.block_size = call.argument<Sizes>(3).dim3();
  buffer.dynamic_shared_bytes = call.argument<std::uint32_t>(4);
  if (const int error = check(call, buffer.kernel, buffer)) return finish(call, error);
  launch(call, address, buffer, call.argument(5), PerThread);
}

}  // namespace

const Kernel* kernel_named(LaneCall& call, std::uint64_t address) {
  try {
    return call.run.launch().request.module.kernel_at(address);
  } catch (const std::runtime_error& error) {
    abort_kernel(call.execution, call.instruction, call.lane, FindingKind::unknown_instruction,
                 std::string("the kernel to launch does not decode: ") + error.what());
  }
}

std::uint64_t allocate_of_family(LaneCall& call, std::size_t bytes) {
  const Machine& machine = call.run.launch().machine;
  const std::uint64_t address =
      children_of(call).family.heap.allocate(std::max<std::size_t>(bytes, 1));
  if (address != 0 && machine.settings.check_race) {
    GlobalShadow::of(machine.memory).forget_bytes(address, address + bytes);
  }
  return address;
}

void add_work(LaneCall& call, DeviceWork work) {
  work.block = block_of(call);
  if (LaunchChecks* const checks = call.run.launch().checks.get()) {
    work.known = checks->release(call.execution);
  }
  ChildLaunches& children = children_of(call);
  const std::lock_guard lock(children.family.mutex);
  children.work.push_back(std::move(work));
}

/// cudaGetParameterBufferV2(function, grid, block, shared): nullptr if the launch is refused.
void get_parameter_buffer_v2(LaneCall& call) {
  ParameterBuffer buffer;
  buffer.kernel = kernel_named(call, call.argument(0));
  buffer.grid_size = call.argument<Sizes>(1).dim3();
  buffer.block_size = call.argument<Sizes>(2).dim3();
  buffer.dynamic_shared_bytes = call.argument<std::uint32_t>(3);
  int error = check(call, buffer.kernel, buffer);
  std::uint64_t address = 0;
  if (error == kSuccess) {
    buffer.bytes = buffer.kernel->parameter_bytes;
    address = add_buffer(call, buffer);
    if (address == 0) error = kOutOfResources;
  }
  finish(call, error);
  call.set_result(address);
}

/// cudaGetParameterBuffer(alignment, bytes)
void get_parameter_buffer(LaneCall& call) {
  ParameterBuffer buffer;
  buffer.bytes = call.argument(1);
  const std::uint64_t address = buffer.bytes > kMostParameters ? 0 : add_buffer(call, buffer);
  finish(call, address == 0 ? kOutOfResources : kSuccess);
  call.set_result(address);
}

void launch_device_v2(LaneCall& call) { launch_from_buffer<false>(call); }
void launch_device_v2_per_thread(LaneCall& call) { launch_from_buffer<true>(call); }
void launch_device(LaneCall& call) { launch_with_sizes<false>(call); }
void launch_device_per_thread(LaneCall& call) { launch_with_sizes<true>(call); }

}  // namespace halfgrad::emulator
