#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/emulator/runtime/streams/graph.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

namespace halfgrad::emulator {

/// How an executable graph is launched: all nodes, those of child graphs included, in a legal
/// order. Each stands in a branch, and those of one branch follow each other by the graph's edges:
/// a branch becomes a chain of the stream that launches the graph.
struct LaunchPlan {
  struct Step {
    GraphNode* node = nullptr;
    std::vector<std::uint32_t> dependencies;  ///< steps, all earlier
    std::uint32_t branch = 0;
  };
  std::vector<Step> steps;
  std::vector<std::uint32_t> last;  ///< steps that no other follows
  std::uint32_t branches = 0;
  std::uint32_t work = 0;           ///< steps that give a GPU work: kernels, copies, memsets
  std::uint32_t longest_chain = 0;  ///< the most of these that run one after the other
};

/// Returns the plan of a graph without cycles.
LaunchPlan plan_launch(const Graph& graph);

/// An executable graph (cudaGraphInstantiate).
struct GraphExec {
  cudaGraphExec_t handle = nullptr;
  unsigned long long flags = 0;
  Graph* graph = nullptr;  ///< a copy, whose nodes have the instantiated graph's as `original`
  LaunchPlan plan;
  Clock last_launch;  ///< launches of one executable graph run one after the other
};

// All functions here are called with StreamState::mutex held.

GraphExec* find_exec(cudaGraphExec_t handle);
/// Copies the graph. Returns nullptr if it has a cycle.
GraphExec* instantiate(const Graph& graph, unsigned long long flags);
void destroy_exec(GraphExec& exec);

/// Gives the stream every node of the graph. The stream is not being captured.
cudaError_t launch(StreamState& state, GraphExec& exec, Stream& stream);

/// Takes the parameters of a graph of the same shape (cudaGraphExecUpdate). Nothing changes on
/// failure.
cudaGraphExecUpdateResultInfo update(Graph& executable, const Graph& graph);

}  // namespace halfgrad::emulator
