// Memory, errors and facts of the device for kernels that ask the runtime.
#include <cstring>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/builtins.h>
#include <halfgrad/emulator/simt/device_api.h>
#include <halfgrad/emulator/simt/device_calls.h>

namespace halfgrad::emulator {
namespace {

DeviceApi& api_of(LaneCall& call) {
  DeviceApi* const api = call.run.launch().machine.device_api;
  if (api == nullptr) {
    abort_kernel(call.execution, call.instruction, call.lane, FindingKind::unknown_function,
                 "a call of " + call.call.name + " without a CUDA runtime");
  }
  return *api;
}

template <bool Reset>
void last_error(LaneCall& call) {
  ChildLaunches& children = children_of(call);
  const std::lock_guard lock(children.family.mutex);
  int& error = children.errors[{block_of(call), call.thread()}];
  call.set_result(static_cast<std::uint64_t>(error));
  if (Reset) error = kSuccess;
}

/// Stores a value that the runtime knows, if there was no error.
void answer(LaneCall& call, int error, std::uint64_t value, unsigned bytes) {
  if (error == kSuccess) call.store(call.argument(0), value, bytes);
  finish(call, error);
}

template <int (DeviceApi::*Ask)()>
void ask(LaneCall& call) {
  const int value = (api_of(call).*Ask)();
  answer(call, kSuccess, static_cast<std::uint32_t>(value), sizeof value);
}

/// The text of an error lies in memory of the family, which stays until the last grid ends.
template <bool Name>
void error_text(LaneCall& call) {
  const int error = call.argument<int>(0);
  const std::string text = api_of(call).error_text(error, Name);
  LaunchFamily& family = children_of(call).family;
  const std::lock_guard lock(family.mutex);
  std::uint64_t& address = family.error_texts[{error, Name}];
  if (address == 0) {
    address = allocate_of_family(call, text.size() + 1);
    const Allocation* const memory = call.run.launch().machine.memory.find(address, 1);
    if (memory == nullptr) return call.set_result(0);
    const std::size_t offset = address - memory->begin;
    std::memcpy(memory->host + offset, text.c_str(), text.size() + 1);
    if (memory->written != nullptr) std::memset(memory->written + offset, 1, text.size() + 1);
  }
  call.set_result(address);
}

}  // namespace

ChildLaunches& children_of(const LaneCall& call) { return *call.run.launch().children; }

std::uint64_t block_of(const LaneCall& call) { return call.execution.block->number; }

void finish(LaneCall& call, int error) {
  if (error != kSuccess) {
    ChildLaunches& children = children_of(call);
    const std::lock_guard lock(children.family.mutex);
    children.errors[{block_of(call), call.thread()}] = error;
  }
  call.set_result(static_cast<std::uint64_t>(error));
}

void allocate_memory(LaneCall& call) {
  const std::uint64_t address = device_malloc(call, call.argument(1));
  call.store(call.argument(0), address, sizeof address);
  finish(call, address == 0 ? kOutOfMemory : kSuccess);
}

void free_memory(LaneCall& call) {
  device_free(call, call.argument(0), "cudaFree", "cudaMalloc");
  finish(call, kSuccess);
}

void device_attribute(LaneCall& call) {
  int value = 0;
  const int error = api_of(call).attribute(call.argument<int>(1), call.argument<int>(2), value);
  answer(call, error, static_cast<std::uint32_t>(value), sizeof value);
}

void device_limit(LaneCall& call) {
  std::size_t value = 0;
  const int error = api_of(call).limit(call.argument<int>(1), value);
  answer(call, error, value, sizeof value);
}

/// cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, kernel, threads, dynamic shared bytes)
void active_blocks(LaneCall& call) {
  const Kernel* const kernel = kernel_named(call, call.argument(1));
  if (kernel == nullptr) return finish(call, kInvalidDeviceFunction);
  const int threads = call.argument<int>(2);
  if (threads <= 0) return finish(call, kInvalidValue);
  const int blocks = api_of(call).active_blocks(*kernel, threads, call.argument(3));
  answer(call, kSuccess, static_cast<std::uint32_t>(blocks), sizeof blocks);
}

void get_last_error(LaneCall& call) { last_error<true>(call); }
void peek_at_last_error(LaneCall& call) { last_error<false>(call); }
void error_string(LaneCall& call) { error_text<false>(call); }
void error_name(LaneCall& call) { error_text<true>(call); }
void current_device_of(LaneCall& call) { ask<&DeviceApi::device>(call); }
void device_count(LaneCall& call) { ask<&DeviceApi::device_count>(call); }
void runtime_version(LaneCall& call) { ask<&DeviceApi::runtime_version>(call); }

}  // namespace halfgrad::emulator
