#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <halfgrad/emulator/runtime/arrays.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/error_state.h>

namespace halfgrad::emulator {
namespace {

/// Rows of a box of memory: `height` x `depth` rows of `width` bytes.
struct Box {
  std::byte* begin = nullptr;
  std::size_t pitch = 0, rows_of_slice = 0;

  std::byte* row(std::size_t y, std::size_t z) const {
    return begin + (z * rows_of_slice + y) * pitch;
  }
};

Box box_of(const cudaPitchedPtr& memory, const cudaPos& position) {
  const std::size_t rows = memory.ysize;
  Box box{static_cast<std::byte*>(memory.ptr), memory.pitch, rows};
  box.begin = box.row(position.y, position.z) + position.x;
  return box;
}

bool rows_fit(const Box& box, const cudaExtent& extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    for (std::size_t y = 0; y < extent.height; ++y) {
      if (!fits(box.row(y, z), extent.width)) return false;
    }
  }
  return true;
}

void report_range(const char* side, const void* pointer, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const bool freed = process().memory.was_freed(address);
  report_call(freed ? FindingKind::use_after_free : FindingKind::out_of_bounds, "copy",
              std::string(side) + " of " + std::to_string(bytes) + " bytes at " +
                  address_text(address) + ": " + process().memory.describe_neighbour(address));
}

/// Keeps the parameters for later queries of the work.
template <class Values>
std::shared_ptr<const WorkParameters> kept(const Values& values) {
  auto parameters = std::make_shared<WorkParameters>();
  parameters->values = values;
  return parameters;
}

const char* place_text(const void* pointer) {
  return place_of(pointer) == MemoryPlace::device ? "device" : "host";
}

std::string direction_text(const void* to, const void* from) {
  return std::string(place_text(from)) + " to " + place_text(to);
}

const char* direction_name(cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return "host to host";
    case cudaMemcpyHostToDevice:
      return "host to device";
    case cudaMemcpyDeviceToHost:
      return "device to host";
    default:
      return "device to device";
  }
}

/// Reports a direction that disagrees with the pointers. Such a copy may work on a GPU, so a
/// program that ignores the error would go on here with old data.
cudaError_t check_and_report_direction(const void* to, const void* from, cudaMemcpyKind kind) {
  const cudaError_t error = check_direction(to, from, kind);
  if (error == cudaErrorInvalidValue) {
    report_call(FindingKind::invalid_call, "copy",
                std::string("the direction is ") + direction_name(kind) +
                    ", but the pointers lead from " + direction_text(to, from) +
                    ": the result is undefined, and nothing is copied");
  }
  return error;
}

/// Wraps work so that it does nothing on a lost device.
template <class Run>
std::function<void(OperationId)> unless_lost(int device, Run run) {
  return [device, run = std::move(run)](OperationId operation) {
    if (!device_is_lost(device)) run(operation);
  };
}

}  // namespace

cudaError_t copy_work(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                      Work& work) {
  work.kind = WorkKind::copy;
  work.name = "cudaMemcpy";
  cudaMemcpy3DParms row{};
  row.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  row.dstPtr = {to, bytes, bytes, 1};
  row.extent = {bytes, 1, 1};
  row.kind = kind;
  work.parameters = kept(row);
  work.detail = direction_text(to, from);
  work.cost = WorkCost{.bytes = bytes};
  work.device = current_device();
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_and_report_direction(to, from, kind)) return error;
  if (!fits(from, bytes)) report_range("source", from, bytes);
  if (!fits(to, bytes)) report_range("destination", to, bytes);
  if (!fits(from, bytes) || !fits(to, bytes)) return cudaErrorInvalidValue;
  work.run = unless_lost(work.device,
                         [=](OperationId operation) { copy_row(to, from, bytes, operation); });
  return cudaSuccess;
}

cudaError_t copy_work(const cudaMemcpy3DParms& given, Work& work) {
  work.kind = WorkKind::copy;
  work.name = "cudaMemcpy3D";
  work.parameters = kept(given);
  cudaMemcpy3DParms parameters{};
  if (const cudaError_t error = without_arrays("cudaMemcpy3D", given, parameters)) return error;
  const cudaExtent extent = parameters.extent;
  const std::size_t bytes = extent.width * extent.height * extent.depth;
  work.detail = direction_text(parameters.dstPtr.ptr, parameters.srcPtr.ptr);
  work.cost = WorkCost{.bytes = bytes};
  work.device = current_device();
  if (bytes == 0) return cudaSuccess;
  if (parameters.srcPtr.ptr == nullptr || parameters.dstPtr.ptr == nullptr)
    return cudaErrorInvalidValue;
  const Box source = box_of(parameters.srcPtr, parameters.srcPos);
  const Box target = box_of(parameters.dstPtr, parameters.dstPos);
  const bool many_rows = extent.height * extent.depth > 1;
  if (many_rows && (source.pitch < extent.width || target.pitch < extent.width))
    return cudaErrorInvalidPitchValue;
  if (const cudaError_t error =
          check_and_report_direction(target.begin, source.begin, parameters.kind))
    return error;
  if (!rows_fit(source, extent)) report_range("source", source.begin, bytes);
  if (!rows_fit(target, extent)) report_range("destination", target.begin, bytes);
  if (!rows_fit(source, extent) || !rows_fit(target, extent)) return cudaErrorInvalidValue;
  work.run = unless_lost(work.device, [=](OperationId operation) {
    for (std::size_t z = 0; z < extent.depth; ++z) {
      for (std::size_t y = 0; y < extent.height; ++y)
        copy_row(target.row(y, z), source.row(y, z), extent.width, operation);
    }
  });
  return cudaSuccess;
}

cudaError_t memset_work(const cudaMemsetParams& parameters, Work& work) {
  const unsigned element = parameters.elementSize;
  const std::size_t bytes = parameters.width * element * parameters.height;
  work.kind = WorkKind::memset;
  work.name = "cudaMemset";
  work.parameters = kept(parameters);
  work.cost = WorkCost{.bytes = bytes};
  work.device = current_device();
  if (element != 1 && element != 2 && element != 4) return cudaErrorInvalidValue;
  if (bytes == 0) return cudaSuccess;
  const Box target{static_cast<std::byte*>(parameters.dst), parameters.pitch, parameters.height};
  const cudaExtent extent{parameters.width * element, parameters.height, 1};
  if (parameters.dst == nullptr) return cudaErrorInvalidValue;
  if (extent.height > 1 && target.pitch < extent.width) return cudaErrorInvalidPitchValue;
  if (place_of(parameters.dst) == MemoryPlace::pageable) {
    report_range("destination", parameters.dst, bytes);
    return cudaErrorInvalidValue;
  }
  if (!rows_fit(target, extent)) {
    report_range("destination", parameters.dst, bytes);
    return cudaErrorInvalidValue;
  }
  const std::uint32_t value = parameters.value;
  const std::size_t elements = parameters.width;
  work.run = unless_lost(work.device, [=](OperationId operation) {
    for (std::size_t y = 0; y < extent.height; ++y)
      fill_row(target.row(y, 0), value, element, elements, operation);
  });
  return cudaSuccess;
}

cudaError_t host_work(cudaHostFn_t function, void* data, Work& work) {
  if (function == nullptr) return cudaErrorInvalidValue;
  work.kind = WorkKind::host_function;
  work.name = "host function";
  work.parameters = kept(cudaHostNodeParams{function, data});
  work.device = current_device();
  work.run = unless_lost(work.device, [=](OperationId) { function(data); });
  return cudaSuccess;
}

}  // namespace halfgrad::emulator
