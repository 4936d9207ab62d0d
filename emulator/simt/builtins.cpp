#include <halfgrad/emulator/simt/builtins.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/checks/shadow.h>
#include <halfgrad/emulator/simt/device_heap.h>
#include <halfgrad/emulator/simt/device_runtime.h>
#include <halfgrad/emulator/simt/lane_call.h>
#include <halfgrad/emulator/simt/printf_format.h>

namespace halfgrad::emulator {
namespace {

/// Arguments of printf in the buffer that nvcc's code fills: 4 or 8 bytes each, aligned to their
/// size.
class BufferArguments : public PrintfArguments {
 public:
  BufferArguments(LaneCall& call, std::uint64_t address) : call_(call), address_(address) {}

  std::uint64_t next(unsigned bytes) override {
    address_ = (address_ + bytes - 1) / bytes * bytes;
    const std::uint64_t value = call_.load(address_, bytes);
    address_ += bytes;
    return value;
  }
  std::string string(std::uint64_t address) override {
    return address == 0 ? "(null)" : call_.string(address);
  }

 private:
  LaneCall& call_;
  std::uint64_t address_;
};

void call_printf(LaneCall& call) {
  BufferArguments arguments(call, call.argument(1));
  const PrintfResult result = format_printf(call.string(call.argument(0)), arguments);
  call.run.print(result.text);
  call.set_result(static_cast<std::uint64_t>(result.arguments));
}

[[noreturn]] void call_assertfail(LaneCall& call) {
  const std::string message = call.string(call.argument(0));
  const std::string file = call.string(call.argument(1));
  const std::string function = call.string(call.argument(3));
  const std::string line = std::to_string(static_cast<std::uint32_t>(call.argument(2)));
  const Dim3& block = call.execution.block->index;
  const Dim3& size = call.run.launch().request.block;
  const unsigned thread = call.execution.warp->index * kWarpSize + call.lane;
  const auto triple = [](unsigned x, unsigned y, unsigned z) {
    return "[" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + "]";
  };
  // The text is the one that CUDA prints.
  const std::string text =
      file + ":" + line + ": " + function + ": block: " + triple(block.x, block.y, block.z) +
      ", thread: " + triple(thread % size.x, thread / size.x % size.y, thread / size.x / size.y) +
      " Assertion `" + message + "` failed.";
  std::fprintf(stderr, "%s\n", text.c_str());
  abort_kernel(call.execution, call.instruction, call.lane, FindingKind::assertion, text);
}

void call_malloc(LaneCall& call) { call.set_result(device_malloc(call, call.argument(0))); }

void call_free(LaneCall& call) { device_free(call, call.argument(0), "free", "malloc"); }

void call_set_conditional(LaneCall& call) {
  const auto set = call.execution.launch->machine.set_condition;
  const std::uint64_t handle = call.argument(0);
  if (set != nullptr && set(handle, static_cast<std::uint32_t>(call.argument(1)))) return;
  abort_kernel(call.execution, call.instruction, call.lane, FindingKind::invalid_call,
               "cudaGraphSetConditional: expected a handle that cudaGraphConditionalHandleCreate "
               "made for a live graph",
               handle);
}

/// Freeing memory races with accesses of other threads as a store to all of it would. The first
/// bytes stand for large pieces.
void check_free(LaneCall& call, std::uint64_t address, std::size_t bytes) {
  constexpr std::size_t kWord = 4, kMostBytes = 1024;
  LaunchChecks* const checks = call.run.launch().checks.get();
  if (checks == nullptr || !call.run.launch().machine.settings.check_race) return;
  const Access access{.space = Space::global, .kind = AccessKind::store, .bytes = kWord};
  const std::uint64_t end = address + std::min(bytes, kMostBytes);
  for (; address + kWord <= end; address += kWord) {
    LaneAddresses addresses{};
    addresses[call.lane] = address;
    checks->access(call.execution, call.instruction, access, addresses, HostPointers(), nullptr);
  }
}

}  // namespace

std::uint64_t device_malloc(LaneCall& call, std::uint64_t bytes) {
  const Machine& machine = call.run.launch().machine;
  const std::uint64_t address =
      machine.heap == nullptr
          ? 0
          : machine.heap->allocate(bytes, place_of(call.execution, call.instruction));
  // Accesses of other threads before they freed the piece come before this call.
  if (address != 0 && machine.settings.check_race) {
    GlobalShadow::of(machine.memory).forget_bytes(address, address + bytes);
  }
  return address;
}

void device_free(LaneCall& call, std::uint64_t address, const std::string& function,
                 const std::string& allocator) {
  if (address == 0) return;
  DeviceHeap* heap = call.run.launch().machine.heap;
  const std::size_t bytes = heap == nullptr ? 0 : heap->bytes_at(address);
  if (bytes != 0) check_free(call, address, bytes);
  if (bytes != 0 && heap->free(address)) return;
  abort_kernel(call.execution, call.instruction, call.lane, FindingKind::invalid_call,
               function + ": expected an address that " + allocator +
                   " returned in a kernel and that is not free",
               address);
}

void call_builtin(BlockRun& run, const Execution& execution, const Instruction& instruction,
                  const Call& call) {
  void (*function)(LaneCall&) = nullptr;
  if (call.name == "vprintf") function = call_printf;
  if (call.name == "__assertfail") function = call_assertfail;
  if (call.name == "malloc") function = call_malloc;
  if (call.name == "free") function = call_free;
  if (call.name == "cudaGraphSetConditional") function = call_set_conditional;
  if (function == nullptr) function = device_runtime_function(call.name);
  if (function == nullptr) {
    abort_kernel(execution, instruction, first_lane(execution.mask), FindingKind::unknown_function,
                 "a call of " + call.name + ", which neither the module nor the emulator has");
  }
  each_lane(execution.mask, [&](unsigned lane) {
    LaneCall one{run, execution, instruction, call, lane};
    one.execution.mask = LaneMask{1} << lane;
    function(one);
  });
}

}  // namespace halfgrad::emulator
