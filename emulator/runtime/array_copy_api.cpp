// Functions that copy to, from and between CUDA arrays. Each has a form for the legacy default
// stream and one for the default stream of each thread: _ptds waits, _ptsz takes a stream.
#include <halfgrad/emulator/runtime/array_copies.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

CopyOrder on_thread(cudaStream_t stream) {
  return {stream == nullptr ? cudaStreamPerThread : stream, false};
}

constexpr CopyOrder kWaits{nullptr, true};
const CopyOrder kWaitsOnThread{cudaStreamPerThread, true};

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DToArray(cudaArray_t to, std::size_t x, std::size_t y,
                                                      const void* from, std::size_t pitch,
                                                      std::size_t width, std::size_t height,
                                                      cudaMemcpyKind kind) {
  return copy_rows_of_array("cudaMemcpy2DToArray", side_of(to, x, y), side_of(from, pitch), width,
                            height, kind, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DToArray_ptds(cudaArray_t to, std::size_t x,
                                                           std::size_t y, const void* from,
                                                           std::size_t pitch, std::size_t width,
                                                           std::size_t height,
                                                           cudaMemcpyKind kind) {
  return copy_rows_of_array("cudaMemcpy2DToArray", side_of(to, x, y), side_of(from, pitch), width,
                            height, kind, kWaitsOnThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, std::size_t x,
                                                           std::size_t y, const void* from,
                                                           std::size_t pitch, std::size_t width,
                                                           std::size_t height, cudaMemcpyKind kind,
                                                           cudaStream_t stream) {
  return copy_rows_of_array("cudaMemcpy2DToArrayAsync", side_of(to, x, y), side_of(from, pitch),
                            width, height, kind, {stream, false});
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DToArrayAsync_ptsz(
    cudaArray_t to, std::size_t x, std::size_t y, const void* from, std::size_t pitch,
    std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows_of_array("cudaMemcpy2DToArrayAsync", side_of(to, x, y), side_of(from, pitch),
                            width, height, kind, on_thread(stream));
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DFromArray(void* to, std::size_t pitch,
                                                        cudaArray_const_t from, std::size_t x,
                                                        std::size_t y, std::size_t width,
                                                        std::size_t height, cudaMemcpyKind kind) {
  return copy_rows_of_array("cudaMemcpy2DFromArray", side_of(to, pitch), side_of(from, x, y), width,
                            height, kind, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DFromArray_ptds(void* to, std::size_t pitch,
                                                             cudaArray_const_t from, std::size_t x,
                                                             std::size_t y, std::size_t width,
                                                             std::size_t height,
                                                             cudaMemcpyKind kind) {
  return copy_rows_of_array("cudaMemcpy2DFromArray", side_of(to, pitch), side_of(from, x, y), width,
                            height, kind, kWaitsOnThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DFromArrayAsync(
    void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
    std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows_of_array("cudaMemcpy2DFromArrayAsync", side_of(to, pitch), side_of(from, x, y),
                            width, height, kind, {stream, false});
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DFromArrayAsync_ptsz(
    void* to, std::size_t pitch, cudaArray_const_t from, std::size_t x, std::size_t y,
    std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_rows_of_array("cudaMemcpy2DFromArrayAsync", side_of(to, pitch), side_of(from, x, y),
                            width, height, kind, on_thread(stream));
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, std::size_t to_x,
                                                           std::size_t to_y, cudaArray_const_t from,
                                                           std::size_t from_x, std::size_t from_y,
                                                           std::size_t width, std::size_t height,
                                                           cudaMemcpyKind kind) {
  return copy_rows_of_array("cudaMemcpy2DArrayToArray", side_of(to, to_x, to_y),
                            side_of(from, from_x, from_y), width, height, kind, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy2DArrayToArray_ptds(
    cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from, std::size_t from_x,
    std::size_t from_y, std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  return copy_rows_of_array("cudaMemcpy2DArrayToArray", side_of(to, to_x, to_y),
                            side_of(from, from_x, from_y), width, height, kind, kWaitsOnThread);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToArray(cudaArray_t to, std::size_t x, std::size_t y,
                                                    const void* from, std::size_t count,
                                                    cudaMemcpyKind kind) {
  return copy_bytes_of_array("cudaMemcpyToArray", side_of(to, x, y), side_of(from, count), count,
                             kind, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToArray_ptds(cudaArray_t to, std::size_t x,
                                                         std::size_t y, const void* from,
                                                         std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_of_array("cudaMemcpyToArray", side_of(to, x, y), side_of(from, count), count,
                             kind, kWaitsOnThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, std::size_t x,
                                                         std::size_t y, const void* from,
                                                         std::size_t count, cudaMemcpyKind kind,
                                                         cudaStream_t stream) {
  return copy_bytes_of_array("cudaMemcpyToArrayAsync", side_of(to, x, y), side_of(from, count),
                             count, kind, {stream, false});
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyToArrayAsync_ptsz(cudaArray_t to, std::size_t x,
                                                              std::size_t y, const void* from,
                                                              std::size_t count,
                                                              cudaMemcpyKind kind,
                                                              cudaStream_t stream) {
  return copy_bytes_of_array("cudaMemcpyToArrayAsync", side_of(to, x, y), side_of(from, count),
                             count, kind, on_thread(stream));
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from,
                                                      std::size_t x, std::size_t y,
                                                      std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_of_array("cudaMemcpyFromArray", side_of(to, count), side_of(from, x, y), count,
                             kind, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromArray_ptds(void* to, cudaArray_const_t from,
                                                           std::size_t x, std::size_t y,
                                                           std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_of_array("cudaMemcpyFromArray", side_of(to, count), side_of(from, x, y), count,
                             kind, kWaitsOnThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from,
                                                           std::size_t x, std::size_t y,
                                                           std::size_t count, cudaMemcpyKind kind,
                                                           cudaStream_t stream) {
  return copy_bytes_of_array("cudaMemcpyFromArrayAsync", side_of(to, count), side_of(from, x, y),
                             count, kind, {stream, false});
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyFromArrayAsync_ptsz(void* to, cudaArray_const_t from,
                                                                std::size_t x, std::size_t y,
                                                                std::size_t count,
                                                                cudaMemcpyKind kind,
                                                                cudaStream_t stream) {
  return copy_bytes_of_array("cudaMemcpyFromArrayAsync", side_of(to, count), side_of(from, x, y),
                             count, kind, on_thread(stream));
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, std::size_t to_x,
                                                         std::size_t to_y, cudaArray_const_t from,
                                                         std::size_t from_x, std::size_t from_y,
                                                         std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_of_array("cudaMemcpyArrayToArray", side_of(to, to_x, to_y),
                             side_of(from, from_x, from_y), count, kind, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpyArrayToArray_ptds(
    cudaArray_t to, std::size_t to_x, std::size_t to_y, cudaArray_const_t from, std::size_t from_x,
    std::size_t from_y, std::size_t count, cudaMemcpyKind kind) {
  return copy_bytes_of_array("cudaMemcpyArrayToArray", side_of(to, to_x, to_y),
                             side_of(from, from_x, from_y), count, kind, kWaitsOnThread);
}

HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3DPeer(const cudaMemcpy3DPeerParms* parameters) {
  return copy_between_devices("cudaMemcpy3DPeer", parameters, kWaits);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3DPeer_ptds(const cudaMemcpy3DPeerParms* parameters) {
  return copy_between_devices("cudaMemcpy3DPeer", parameters, kWaitsOnThread);
}
HALFGRAD_EMULATOR_API cudaError_t cudaMemcpy3DPeerAsync(const cudaMemcpy3DPeerParms* parameters,
                                                        cudaStream_t stream) {
  return copy_between_devices("cudaMemcpy3DPeerAsync", parameters, {stream, false});
}
HALFGRAD_EMULATOR_API cudaError_t
cudaMemcpy3DPeerAsync_ptsz(const cudaMemcpy3DPeerParms* parameters, cudaStream_t stream) {
  return copy_between_devices("cudaMemcpy3DPeerAsync", parameters, on_thread(stream));
}

}  // namespace halfgrad::emulator
