#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/graph_memory.h>

// Memory that graphs hold (CUDA Runtime API, "Graph Management"). The emulator reserves what is
// used: a node's memory exists as long as the node.

namespace halfgrad::emulator {
namespace {

std::uint64_t& highest(int device, cudaGraphMemAttributeType attribute) {
  static auto& all = *new std::map<std::pair<int, cudaGraphMemAttributeType>, std::uint64_t>;
  return all[{device, attribute}];
}

bool is_highest(cudaGraphMemAttributeType attribute) {
  return attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
}

template <class Body>
cudaError_t with_device(const char* function, int device, Body body) {
  return locked_call(function, [&](StreamState&) {
    const bool exists = device >= 0 && device < process().settings.devices;
    return exists ? body() : cudaErrorInvalidDevice;
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t
cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return with_device("cudaDeviceGetGraphMemAttribute", device, [&] {
    if (value == nullptr || attribute > cudaGraphMemAttrReservedMemHigh) {
      return cudaErrorInvalidValue;
    }
    std::uint64_t bytes = graph_memory_bytes(device);
    for (const auto high : {cudaGraphMemAttrUsedMemHigh, cudaGraphMemAttrReservedMemHigh}) {
      highest(device, high) = std::max(highest(device, high), bytes);
    }
    if (is_highest(attribute)) bytes = highest(device, attribute);
    *static_cast<std::uint64_t*>(value) = bytes;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t
cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  return with_device("cudaDeviceSetGraphMemAttribute", device, [&] {
    const bool resets = value != nullptr && *static_cast<const std::uint64_t*>(value) == 0;
    if (!is_highest(attribute) || !resets) return cudaErrorInvalidValue;
    highest(device, attribute) = 0;
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaDeviceGraphMemTrim(int device) {
  return with_device("cudaDeviceGraphMemTrim", device, [] { return cudaSuccess; });
}

}  // namespace halfgrad::emulator
