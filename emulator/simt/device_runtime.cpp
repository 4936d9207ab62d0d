// The device runtime (CUDA C++ Programming Guide, "CUDA Dynamic Parallelism", "API Reference").
#include <halfgrad/emulator/simt/device_runtime.h>

#include <string_view>

#include <halfgrad/emulator/simt/device_calls.h>

namespace halfgrad::emulator {
namespace {

struct NamedFunction {
  std::string_view name;
  void (*function)(LaneCall& call);
};

constexpr NamedFunction kFunctions[] = {
    {"GetParameterBuffer", get_parameter_buffer},
    {"GetParameterBufferV2", get_parameter_buffer_v2},
    {"LaunchDevice", launch_device},
    {"LaunchDevice_ptsz", launch_device_per_thread},
    {"LaunchDeviceV2", launch_device_v2},
    {"LaunchDeviceV2_ptsz", launch_device_v2_per_thread},
    {"GetLastError", get_last_error},
    {"PeekAtLastError", peek_at_last_error},
    {"GetErrorString", error_string},
    {"GetErrorName", error_name},
    {"StreamCreateWithFlags", create_stream},
    {"StreamDestroy", destroy_stream},
    {"EventCreateWithFlags", create_event},
    {"EventDestroy", destroy_event},
    {"EventRecord", record_event},
    {"EventRecord_ptsz", record_event_per_thread},
    {"EventRecordWithFlags", record_event},
    {"EventRecordWithFlags_ptsz", record_event_per_thread},
    {"StreamWaitEvent", wait_event},
    {"StreamWaitEvent_ptsz", wait_event_per_thread},
    {"MemcpyAsync", copy_memory},
    {"MemcpyAsync_ptsz", copy_memory_per_thread},
    {"MemsetAsync", set_memory},
    {"MemsetAsync_ptsz", set_memory_per_thread},
    {"Malloc", allocate_memory},
    {"Free", free_memory},
    {"DeviceGetAttribute", device_attribute},
    {"DeviceGetLimit", device_limit},
    {"GetDevice", current_device_of},
    {"GetDeviceCount", device_count},
    {"RuntimeGetVersion", runtime_version},
    {"OccupancyMaxActiveBlocksPerMultiprocessor", active_blocks},
    {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", active_blocks},
};

}  // namespace

void (*device_runtime_function(std::string_view name))(LaneCall& call) {
  // The names of the second version, and the same functions where the runtime calls them directly.
  for (const std::string_view prefix : {"__cudaCDP2", "cuda"}) {
    if (name.substr(0, prefix.size()) != prefix) continue;
    const std::string_view rest = name.substr(prefix.size());
    for (const NamedFunction& known : kFunctions) {
      if (known.name == rest) return known.function;
    }
  }
  return nullptr;
}

}  // namespace halfgrad::emulator
