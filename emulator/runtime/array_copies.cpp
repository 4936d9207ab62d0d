// Copies to, from and between CUDA arrays.
#include <algorithm>
#include <string>

#include <halfgrad/emulator/runtime/array_copies.h>
#include <halfgrad/emulator/runtime/arrays.h>
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/device.h>

namespace halfgrad::emulator {
namespace {

/// The array's part of a copy as a pitched pointer; `extent` counts elements of the array.
cudaError_t place_array(const char* function, cudaArray_const_t handle, const cudaExtent& extent,
                        cudaPitchedPtr& memory, cudaPos& position) {
  const CudaArray* array = find_array(function, handle);
  if (array == nullptr) return cudaErrorInvalidResourceHandle;
  const Image& image = array->image;
  const auto fits = [](std::size_t from, std::size_t size, std::size_t whole) {
    return from <= whole && size <= whole - from;
  };
  if (!fits(position.x, extent.width, image.width) ||
      !fits(position.y, extent.height, image.height) ||
      !fits(position.z, extent.depth, image.slices)) {
    report_call(FindingKind::out_of_bounds, function,
                "the copied part exceeds a CUDA array of " + std::to_string(image.width) + " x " +
                    std::to_string(image.height) + " x " + std::to_string(image.slices) +
                    " elements",
                Severity::note);
    return cudaErrorInvalidValue;
  }
  memory = {reinterpret_cast<void*>(image.address), image.row_pitch, image.row_pitch, image.height};
  position.x *= image.format.bytes();
  return cudaSuccess;
}

std::size_t element_bytes(const char* function, cudaArray_const_t handle) {
  const CudaArray* array = handle == nullptr ? nullptr : find_array(function, handle);
  return array == nullptr ? 0 : array->image.format.bytes();
}

/// A copy of `height` rows of `width` bytes, as parameters that count elements of the arrays.
cudaError_t copy_rows(const char* function, const CopySide& to, const CopySide& from,
                      std::size_t width, std::size_t height, cudaMemcpyKind kind, CopyOrder order) {
  const std::size_t element = element_bytes(function, to.array != nullptr ? to.array : from.array);
  if (element == 0) return cudaErrorInvalidResourceHandle;
  if ((width | to.x | from.x) % element != 0) {
    report_call(FindingKind::invalid_call, function,
                "width and offsets count bytes, and must be multiples of an element's " +
                    std::to_string(element) + " bytes",
                Severity::note);
    return cudaErrorInvalidValue;
  }
  if ((to.array == nullptr && width > to.pitch) || (from.array == nullptr && width > from.pitch)) {
    return cudaErrorInvalidPitchValue;
  }
  cudaMemcpy3DParms parameters{};
  parameters.srcArray = from.array;
  parameters.srcPtr = {from.pointer, from.pitch, width, height};
  parameters.srcPos = {from.x / element, from.y, 0};
  parameters.dstArray = to.array;
  parameters.dstPtr = {to.pointer, to.pitch, width, height};
  parameters.dstPos = {to.x / element, to.y, 0};
  parameters.extent = {width / element, height, 1};
  parameters.kind = kind;
  return copy_on_stream(function, parameters, order.stream, order.synchronous);
}

/// Bytes of one row, or of as many whole rows as `count` holds.
std::size_t contiguous_bytes(const CopySide& side, std::size_t row, std::size_t count) {
  if (side.array == nullptr) return count;
  return side.x == 0 && count >= row ? count / row * row : std::min(count, row - side.x);
}

void advance(CopySide& side, std::size_t row, std::size_t bytes) {
  if (side.array == nullptr) {
    side.pointer = static_cast<std::byte*>(side.pointer) + bytes;
    return;
  }
  side.y += (side.x + bytes) / row;
  side.x = (side.x + bytes) % row;
}

}  // namespace

cudaError_t without_arrays(const char* function, const cudaMemcpy3DParms& given,
                           cudaMemcpy3DParms& plain) {
  plain = given;
  plain.srcArray = plain.dstArray = nullptr;
  if (given.srcArray == nullptr && given.dstArray == nullptr) return cudaSuccess;
  if ((given.srcArray != nullptr && given.srcPtr.ptr != nullptr) ||
      (given.dstArray != nullptr && given.dstPtr.ptr != nullptr)) {
    report_call(FindingKind::invalid_call, function, "one side has an array and a pointer",
                Severity::note);
    return cudaErrorInvalidValue;
  }
  std::size_t element = 0;
  for (const bool source : {true, false}) {
    const cudaArray_t array = source ? given.srcArray : given.dstArray;
    if (array == nullptr) continue;
    const cudaError_t error =
        place_array(function, array, given.extent, source ? plain.srcPtr : plain.dstPtr,
                    source ? plain.srcPos : plain.dstPos);
    if (error != cudaSuccess) return error;
    const std::size_t own = element_bytes(function, array);
    if (element != 0 && own != element) {
      report_call(FindingKind::invalid_call, function,
                  "the arrays have elements of " + std::to_string(element) + " and " +
                      std::to_string(own) + " bytes",
                  Severity::note);
      return cudaErrorInvalidValue;
    }
    element = own;
  }
  plain.extent.width *= element;
  return cudaSuccess;
}

cudaError_t copy_rows_of_array(const char* function, const CopySide& to, const CopySide& from,
                               std::size_t width, std::size_t height, cudaMemcpyKind kind,
                               CopyOrder order) {
  return api_call(function,
                  [&] { return copy_rows(function, to, from, width, height, kind, order); });
}

cudaError_t copy_bytes_of_array(const char* function, CopySide to, CopySide from, std::size_t count,
                                cudaMemcpyKind kind, CopyOrder order) {
  return api_call(function, [&] {
    const CudaArray* target = to.array == nullptr ? nullptr : find_array(function, to.array);
    const CudaArray* source = from.array == nullptr ? nullptr : find_array(function, from.array);
    if (target == nullptr && source == nullptr) return cudaErrorInvalidResourceHandle;
    const std::size_t to_row = target == nullptr ? 0 : target->image.row_pitch;
    const std::size_t from_row = source == nullptr ? 0 : source->image.row_pitch;
    if ((target != nullptr && to.x >= to_row) || (source != nullptr && from.x >= from_row)) {
      return cudaErrorInvalidValue;
    }
    while (count != 0) {
      std::size_t bytes =
          std::min(contiguous_bytes(to, to_row, count), contiguous_bytes(from, from_row, count));
      const std::size_t row = target == nullptr ? from_row : to_row;
      const bool same_rows = target == nullptr || source == nullptr || to_row == from_row;
      const bool whole_rows = to.x == 0 && from.x == 0 && same_rows && bytes >= row;
      if (!whole_rows) {
        if (target != nullptr) bytes = std::min(bytes, to_row - to.x);
        if (source != nullptr) bytes = std::min(bytes, from_row - from.x);
      }
      const std::size_t width = whole_rows ? row : bytes, height = whole_rows ? bytes / row : 1;
      bytes = width * height;
      to.pitch = from.pitch = width;
      if (const cudaError_t error = copy_rows(function, to, from, width, height, kind, order)) {
        return error;
      }
      advance(to, to_row, bytes);
      advance(from, from_row, bytes);
      count -= bytes;
    }
    return cudaSuccess;
  });
}

cudaError_t copy_between_devices(const char* function, const cudaMemcpy3DPeerParms* peer,
                                 CopyOrder order) {
  return api_call(function, [&] {
    if (peer == nullptr) return cudaErrorInvalidValue;
    if (!is_device(peer->srcDevice) || !is_device(peer->dstDevice)) return cudaErrorInvalidDevice;
    const cudaMemcpy3DParms parameters{peer->srcArray, peer->srcPos,     peer->srcPtr,
                                       peer->dstArray, peer->dstPos,     peer->dstPtr,
                                       peer->extent,   cudaMemcpyDefault};
    return copy_on_stream(function, parameters, order.stream, order.synchronous);
  });
}

}  // namespace halfgrad::emulator
