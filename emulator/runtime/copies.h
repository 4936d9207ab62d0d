#pragma once

#include <cstddef>
#include <cstdint>

#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {

/// Kind of memory that a pointer of the program leads to. A pointer into freed memory counts as
/// device memory, so that its use is reported.
enum class MemoryPlace : std::uint8_t { pageable, pinned, managed, device };
MemoryPlace place_of(const void* pointer);
inline bool is_host(MemoryPlace place) { return place == MemoryPlace::pageable; }

/// Whether the range lies in one live allocation; pageable host memory always fits.
bool fits(const void* pointer, std::size_t bytes);

/// Whether the direction that the program names agrees with its pointers.
cudaError_t check_direction(const void* to, const void* from, cudaMemcpyKind kind);

/// Refuses memory of malloc in kernels, which the runtime's copies and memsets cannot access, with
/// a note (programming guide, "Dynamic Global Memory Allocation and Operations").
cudaError_t refuse_heap(const char* function, const void* pointer);

/// Copies one contiguous row, with the record of which bytes were ever written.
void copy_row(void* to, const void* from, std::size_t bytes, OperationId operation);
/// Writes `elements` copies of the low bytes of `value`.
void fill_row(void* to, std::uint32_t value, unsigned element_bytes, std::size_t elements,
              OperationId operation);

/// Whether work that is given to the stream becomes part of a graph.
bool is_capturing(cudaStream_t stream);

/// Gives a copy to a stream and waits for it as the CUDA runtime does: always if `synchronous`,
/// else if it writes pageable host memory ("API synchronization behavior" of the CUDA runtime's
/// manual). Work that reads pageable memory reads it now.
cudaError_t copy_on_stream(const char* function, void* to, const void* from, std::size_t bytes,
                           cudaMemcpyKind kind, cudaStream_t stream, bool synchronous);
cudaError_t copy_on_stream(const char* function, const cudaMemcpy3DParms& parameters,
                           cudaStream_t stream, bool synchronous);
cudaError_t fill_on_stream(const char* function, const cudaMemsetParams& parameters,
                           cudaStream_t stream);

}  // namespace halfgrad::emulator
