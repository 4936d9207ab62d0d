#pragma once

#include <memory>
#include <string>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/streams/conditional.h>
#include <halfgrad/emulator/runtime/streams/graph_memory.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {

/// Contents of a node: the common form of the parameters of all node types.
struct NodeContents {
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::shared_ptr<const Work> work;
  cudaEvent_t event = nullptr;
  cudaGraph_t child = nullptr;
  bool child_moves = false;  ///< the node takes the graph itself, not a copy
  std::shared_ptr<GraphMemory> memory;
  std::shared_ptr<Conditional> conditional;
};

// Each returns an error for parameters that the runtime refuses. Called without a lock.

cudaError_t kernel_contents(const cudaKernelNodeParams* parameters, bool cooperative,
                            NodeContents& contents);
cudaError_t copy_contents(const cudaMemcpy3DParms* parameters, NodeContents& contents);
cudaError_t copy_contents(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                          NodeContents& contents);
cudaError_t memset_contents(const cudaMemsetParams* parameters, NodeContents& contents);
cudaError_t host_contents(const cudaHostNodeParams* parameters, NodeContents& contents);
NodeContents event_contents(cudaGraphNodeType type, cudaEvent_t event);
NodeContents child_contents(cudaGraph_t child, bool moves);
/// Allocates, and sets parameters->dptr.
cudaError_t allocation_contents(cudaMemAllocNodeParams* parameters, NodeContents& contents);
cudaError_t free_contents(void* address, NodeContents& contents);

/// Any type, as cudaGraphAddNode takes it. `new_in` is the graph that gets a new node, or nullptr:
/// nodes that own memory or bodies cannot be changed.
cudaError_t contents_of(const char* function, cudaGraphNodeParams* parameters, cudaGraph_t new_in,
                        NodeContents& contents);

}  // namespace halfgrad::emulator
