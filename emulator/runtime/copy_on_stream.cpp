#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <halfgrad/emulator/runtime/arrays.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/copy_overlap.h>
#include <halfgrad/emulator/simt/device_heap.h>

namespace halfgrad::emulator {
bool is_capturing(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
         status != cudaStreamCaptureStatusNone;
}

namespace {

/// Whether the host returns from the call only after the copy.
bool host_waits(const void* to, const void* from, bool synchronous) {
  const MemoryPlace target = place_of(to), source = place_of(from);
  if (target == MemoryPlace::pageable) return true;
  if (!synchronous) return false;
  return source != MemoryPlace::device || target != MemoryPlace::device;
}

std::optional<std::pair<int, int>> devices_of(const void* to, const void* from) {
  const auto find = [](const void* pointer) {
    return process().memory.find(reinterpret_cast<std::uint64_t>(pointer), 1);
  };
  const Allocation *const target = find(to), *const source = find(from);
  if (target == nullptr || source == nullptr) return std::nullopt;
  if (target->kind != MemoryKind::device || source->kind != MemoryKind::device) return std::nullopt;
  if (target->device == source->device) return std::nullopt;
  return std::pair{source->device, target->device};
}

/// Notes that a captured copy reads pageable memory of the host later. A copy outside of a graph
/// has read it when its call returns.
void note_captured_source(const char* function, const void* from, cudaStream_t stream) {
  if (place_of(from) != MemoryPlace::pageable || !is_capturing(stream)) return;
  report_call(FindingKind::capture, function,
              "the graph reads the host's memory at " +
                  address_text(reinterpret_cast<std::uint64_t>(from)) +
                  " at each launch: it must not end before, and its values then are copied",
              Severity::note);
}

cudaError_t give(const char* function, Work work, cudaStream_t stream, bool waits) {
  if (!work.run) return cudaSuccess;
  work.name = function;
  const bool captured = is_capturing(stream);
  if (const cudaError_t error = enqueue(stream, std::move(work))) return error;
  return waits && !captured ? wait_for_stream(stream) : cudaSuccess;
}

}  // namespace

cudaError_t refuse_heap(const char* function, const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const Allocation* const found = process().memory.find(address, 1);
  if (found == nullptr || found->kind != MemoryKind::device) return cudaSuccess;
  if (device_heap(found->device).bytes_at(found->begin) == 0) return cudaSuccess;
  report_call(FindingKind::invalid_call, function,
              "cannot access " + address_text(address) + ": it was allocated by " + found->made_by +
                  ", whose memory only kernels can access: let a kernel copy it",
              Severity::note);
  return cudaErrorInvalidValue;
}

cudaError_t copy_on_stream(const char* function, void* to, const void* from, std::size_t bytes,
                           cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  if (synchronous) {
    if (const cudaError_t error = refuse_in_capture(function)) return error;
  }
  for (const void* const pointer : {static_cast<const void*>(to), from}) {
    if (const cudaError_t error = refuse_heap(function, pointer)) return error;
  }
  Work work;
  if (const cudaError_t error = copy_work(to, from, bytes, kind, work)) return error;
  check_overlap(function, std::get<cudaMemcpy3DParms>(work.parameters->values));
  if (bytes != 0) note_captured_source(function, from, stream);
  work.between = devices_of(to, from);
  const bool waits = bytes != 0 && host_waits(to, from, synchronous);
  if (bytes != 0 && !waits && place_of(from) == MemoryPlace::pageable && !is_capturing(stream)) {
    const auto* begin = static_cast<const std::byte*>(from);
    auto staged = std::make_shared<const std::vector<std::byte>>(begin, begin + bytes);
    work.run = [to, bytes, staged](OperationId operation) {
      copy_row(to, staged->data(), bytes, operation);
    };
  }
  const bool captured = is_capturing(stream);
  if (const cudaError_t error = give(function, std::move(work), stream, waits)) return error;
  if (bytes != 0 && !waits && !captured && place_of(from) == MemoryPlace::pinned) {
    note_host_read(stream, from, bytes, std::string(function) + " at " + call_sites());
  }
  return cudaSuccess;
}

cudaError_t copy_on_stream(const char* function, const cudaMemcpy3DParms& parameters,
                           cudaStream_t stream, bool synchronous) {
  if (synchronous) {
    if (const cudaError_t error = refuse_in_capture(function)) return error;
  }
  Work work;
  cudaMemcpy3DParms plain{};
  if (const cudaError_t error = without_arrays(function, parameters, plain)) return error;
  if (const cudaError_t error = copy_work(parameters, work)) return error;
  check_overlap(function, plain);
  const void* source = plain.srcPtr.ptr;
  for (const void* const pointer : {static_cast<const void*>(plain.dstPtr.ptr), source}) {
    if (const cudaError_t error = refuse_heap(function, pointer)) return error;
  }
  note_captured_source(function, source, stream);
  work.between = devices_of(plain.dstPtr.ptr, source);
  // A strided copy from pageable memory is not staged: the host waits instead, which is legal, too.
  const bool waits = host_waits(plain.dstPtr.ptr, source, synchronous) ||
                     place_of(source) == MemoryPlace::pageable;
  return give(function, std::move(work), stream, waits);
}

cudaError_t fill_on_stream(const char* function, const cudaMemsetParams& parameters,
                           cudaStream_t stream) {
  Work work;
  if (const cudaError_t error = refuse_heap(function, parameters.dst)) return error;
  if (const cudaError_t error = memset_work(parameters, work)) return error;
  return give(function, std::move(work), stream, false);
}

}  // namespace halfgrad::emulator
