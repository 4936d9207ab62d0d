#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include <cublas_v2.h>

#include <halfgrad/emulator/cublaslt/elements.h>
#include <halfgrad/emulator/cublaslt/values.h>
#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {

/// A library call while it runs on its stream.
struct LibraryCall {
  OperationId operation;
  const char* function;

  /// The emulator's view of device memory. Throws StrayAccess, with the finding already in the log.
  std::byte* view(const void* pointer, std::size_t bytes, AccessKind kind) const;
};
/// Thrown to end a call that accesses memory outside of an allocation.
struct StrayAccess {};

/// Gives a call to the stream; what `run` reads and writes is checked like a kernel's accesses.
cublasStatus_t enqueue_call(cudaStream_t stream, const char* function, std::string detail,
                            std::optional<WorkCost> cost,
                            std::function<void(const LibraryCall&)> run);

/// A matrix in device memory: element (i, j) lies i * row_stride + j * column_stride elements after
/// `data`.
struct DeviceMatrix {
  const void* data = nullptr;
  cudaDataType type = CUDA_R_32F;
  std::int64_t rows = 0, columns = 0, row_stride = 1, column_stride = 0;

  DeviceMatrix transposed() const { return {data, type, columns, rows, column_stride, row_stride}; }
  DeviceMatrix moved(std::int64_t elements) const;
};

/// Column-major with a leading dimension, as all of cuBLAS's matrices.
DeviceMatrix column_major(const void* data, cudaDataType type, std::int64_t rows,
                          std::int64_t columns, std::int64_t leading);
/// `count` elements, `stride` apart. A negative stride begins at the end, as BLAS defines it.
DeviceMatrix device_vector(const void* data, cudaDataType type, std::int64_t count,
                           std::int64_t stride);

Values read(const LibraryCall& call, const DeviceMatrix& matrix);
void write(const LibraryCall& call, const Values& values, const DeviceMatrix& matrix);

/// A factor that the host knows now, or the device when the call runs.
struct Factor {
  double value = 0;
  const void* device = nullptr;
  cudaDataType type = CUDA_R_32F;

  double at(const LibraryCall& call) const;
};
Factor factor(const void* pointer, cudaDataType type, bool on_device);

}  // namespace halfgrad::emulator
