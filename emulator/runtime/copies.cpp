// cudaMemcpy and its forms of one row: plain, peer, to and from symbols.
#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/copies.h>
#include <halfgrad/emulator/runtime/per_thread_stream.h>
#include <halfgrad/emulator/runtime/symbols.h>

namespace halfgrad::emulator {
namespace {

cudaError_t to_symbol(const char* function, const void* symbol, const void* from, std::size_t bytes,
                      std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                      bool synchronous) {
  return api_call(function, [&] {
    void* address = nullptr;
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost)
      return cudaErrorInvalidMemcpyDirection;
    if (const cudaError_t error = symbol_range(symbol, bytes, offset, &address)) return error;
    return copy_on_stream(function, address, from, bytes, kind, stream, synchronous);
  });
}

cudaError_t from_symbol(const char* function, void* to, const void* symbol, std::size_t bytes,
                        std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream,
                        bool synchronous) {
  return api_call(function, [&] {
    void* address = nullptr;
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost)
      return cudaErrorInvalidMemcpyDirection;
    if (const cudaError_t error = symbol_range(symbol, bytes, offset, &address)) return error;
    return copy_on_stream(function, to, address, bytes, kind, stream, synchronous);
  });
}

cudaError_t copy(const char* function, void* to, const void* from, std::size_t bytes,
                 cudaMemcpyKind kind, cudaStream_t stream, bool synchronous) {
  return api_call(function, [&] {
    return copy_on_stream(function, to, from, bytes, kind, stream, synchronous);
  });
}

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes,
                                             cudaMemcpyKind kind) {
  return copy("cudaMemcpy", to, from, bytes, kind, nullptr, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy_ptds(void* to, const void* from, std::size_t bytes,
                                                  cudaMemcpyKind kind) {
  return copy("cudaMemcpy", to, from, bytes, kind, cudaStreamPerThread, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes,
                                                  cudaMemcpyKind kind, cudaStream_t stream) {
  return copy("cudaMemcpyAsync", to, from, bytes, kind, stream, false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyAsync_ptsz(void* to, const void* from,
                                                       std::size_t bytes, cudaMemcpyKind kind,
                                                       cudaStream_t stream) {
  return copy("cudaMemcpyAsync", to, from, bytes, kind, or_per_thread(stream), false);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from,
                                                      int from_device, std::size_t bytes,
                                                      cudaStream_t stream) {
  return api_call("cudaMemcpyPeerAsync", [&] {
    const int devices = process().settings.devices;
    if (to_device < 0 || to_device >= devices || from_device < 0 || from_device >= devices)
      return cudaErrorInvalidDevice;
    return copy_on_stream("cudaMemcpyPeerAsync", to, from, bytes, cudaMemcpyDefault, stream, false);
  });
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyPeer(void* to, int to_device, const void* from,
                                                 int from_device, std::size_t bytes) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}

#if CUDART_VERSION >= 13000
/// The copies of a batch have no order among themselves on a GPU; here one follows the other.
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyBatchAsync(void* const* to, const void* const* from,
                                                       const std::size_t* bytes, std::size_t count,
                                                       cudaMemcpyAttributes* attributes,
                                                       std::size_t*, std::size_t attribute_count,
                                                       cudaStream_t stream) {
  return api_call("cudaMemcpyBatchAsync", [&] {
    const bool is_default_stream = stream == nullptr || stream == cudaStreamLegacy;
    if (is_default_stream || attributes == nullptr || attribute_count == 0) {
      return cudaErrorInvalidValue;
    }
    for (std::size_t i = 0; i < count; ++i) {
      if (const cudaError_t error = copy_on_stream("cudaMemcpyBatchAsync", to[i], from[i], bytes[i],
                                                   cudaMemcpyDefault, stream, false)) {
        return error;
      }
    }
    return cudaSuccess;
  });
}
#endif

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from,
                                                     std::size_t bytes, std::size_t offset,
                                                     cudaMemcpyKind kind) {
  return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, nullptr, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToSymbol_ptds(const void* symbol, const void* from,
                                                          std::size_t bytes, std::size_t offset,
                                                          cudaMemcpyKind kind) {
  return to_symbol("cudaMemcpyToSymbol", symbol, from, bytes, offset, kind, cudaStreamPerThread,
                   true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from,
                                                          std::size_t bytes, std::size_t offset,
                                                          cudaMemcpyKind kind,
                                                          cudaStream_t stream) {
  return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind, stream, false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToSymbolAsync_ptsz(const void* symbol, const void* from,
                                                               std::size_t bytes,
                                                               std::size_t offset,
                                                               cudaMemcpyKind kind,
                                                               cudaStream_t stream) {
  return to_symbol("cudaMemcpyToSymbolAsync", symbol, from, bytes, offset, kind,
                   or_per_thread(stream), false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol,
                                                       std::size_t bytes, std::size_t offset,
                                                       cudaMemcpyKind kind) {
  return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, nullptr, true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromSymbol_ptds(void* to, const void* symbol,
                                                            std::size_t bytes, std::size_t offset,
                                                            cudaMemcpyKind kind) {
  return from_symbol("cudaMemcpyFromSymbol", to, symbol, bytes, offset, kind, cudaStreamPerThread,
                     true);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol,
                                                            std::size_t bytes, std::size_t offset,
                                                            cudaMemcpyKind kind,
                                                            cudaStream_t stream) {
  return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind, stream, false);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromSymbolAsync_ptsz(void* to, const void* symbol,
                                                                 std::size_t bytes,
                                                                 std::size_t offset,
                                                                 cudaMemcpyKind kind,
                                                                 cudaStream_t stream) {
  return from_symbol("cudaMemcpyFromSymbolAsync", to, symbol, bytes, offset, kind,
                     or_per_thread(stream), false);
}

}  // namespace halfgrad::emulator
