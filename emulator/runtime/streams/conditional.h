#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

namespace halfgrad::emulator {

struct Graph;

#if CUDART_VERSION < 12080
inline constexpr auto cudaGraphCondTypeSwitch = static_cast<cudaGraphConditionalNodeType>(2);
#endif

/// A conditional node (CUDA programming guide, "Conditional Graph Nodes"). The node owns its
/// bodies.
struct Conditional {
  cudaGraphConditionalHandle handle = 0;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<Graph*> bodies;
  std::vector<cudaGraph_t> body_handles;  ///< the array that the program gets

  /// The body that runs for a value of the condition, or nullptr.
  Graph* body_for(std::uint32_t value) const;
};

/// Makes the node's bodies, and sets parameters.phGraph_out. The handle must be of `graph`.
cudaError_t make_conditional(cudaConditionalNodeParams& parameters, cudaGraph_t graph,
                             std::shared_ptr<Conditional>& made);
std::shared_ptr<Conditional> clone(const Conditional& conditional);
void destroy_bodies(const Conditional& conditional);

std::uint32_t condition(cudaGraphConditionalHandle handle);
/// Sets a condition to its default value if it has one: every launch begins so.
void begin_condition(cudaGraphConditionalHandle handle);
/// cudaGraphSetConditional. Returns false for a handle that does not exist.
bool set_condition(std::uint64_t handle, std::uint32_t value);

}  // namespace halfgrad::emulator
