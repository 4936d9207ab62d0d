#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {

/// Memory of an allocation node (CUDA programming guide, "Graph Memory Nodes"). It exists from the
/// creation of the node. An executed free node makes it unwritten again, so later reads are
/// reported.
struct GraphMemory {
  GraphMemory() = default;
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  cudaMemAllocNodeParams parameters{};
  bool is_freed_by_graph = false;     ///< a free node exists, so the graph's end frees the memory
  std::atomic<bool> has_run = false;  ///< a launch has allocated it, so it can leak

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(parameters.dptr); }
};

/// Allocates the memory and sets parameters.dptr.
cudaError_t allocate_graph_memory(cudaMemAllocNodeParams& parameters,
                                  std::shared_ptr<GraphMemory>& memory);
/// The memory of a live allocation node with that address, or nullptr.
std::shared_ptr<GraphMemory> graph_memory_at(const void* address);

/// Bytes of all live allocation nodes of the device.
std::uint64_t graph_memory_bytes(int device);

/// The work of an allocation or free node: either makes the contents unknown.
std::shared_ptr<const Work> graph_memory_work(const GraphMemory& memory, const char* name);

}  // namespace halfgrad::emulator
