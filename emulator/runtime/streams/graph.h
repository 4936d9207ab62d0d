#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/streams/handle_table.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>
#include <halfgrad/emulator/runtime/work.h>

namespace halfgrad::emulator {

struct Graph;
struct GraphNode;

/// Memory that an allocation node of a graph owns. Its address is the same in every launch.
struct GraphMemory;
/// The condition and the bodies of a conditional node.
struct Conditional;
/// An object of the program that lives as long as graphs refer to it.
struct UserObject;

/// A dependency, stored at the node that depends on `from`.
struct GraphEdge {
  GraphNode* from = nullptr;
  cudaGraphEdgeData data{};
};

/// An operation of a graph. It runs after those that it depends on.
struct GraphNode {
  cudaGraphNode_t handle = nullptr;
  cudaGraphNode_t original = nullptr;  ///< the node that this one is a clone of
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  std::vector<GraphEdge> dependencies;
  std::vector<GraphNode*> dependents;

  std::shared_ptr<const Work> work;          ///< kernel, memcpy, memset, host and memory nodes only
  cudaEvent_t event = nullptr;               ///< event nodes only
  Graph* child = nullptr;                    ///< child graph nodes only, which own it
  std::shared_ptr<GraphMemory> memory;       ///< memory allocation and free nodes only
  std::shared_ptr<Conditional> conditional;  ///< conditional nodes only
  bool enabled = true;                       ///< in an executable graph
};

/// A CUDA graph, captured or built, or the copy that an executable graph runs.
struct Graph {
  cudaGraph_t handle = nullptr;
  cudaGraph_t original = nullptr;
  GraphNode* parent = nullptr;    ///< the child graph node that owns this graph
  bool is_captured = false;       ///< a capture adds nodes to it now
  bool is_executable = false;     ///< a copy that cudaGraphInstantiate made
  std::string made_at;            ///< call sites, of graphs that the program must destroy
  std::vector<GraphNode*> nodes;  ///< in order of creation
  std::vector<std::shared_ptr<UserObject>> user_objects;  ///< one element for each reference
};

/// All graphs of the process. Its members are called with StreamState::mutex held.
class GraphTable {
 public:
  Graph& make_graph();
  /// Destroys its nodes and child graphs, too.
  void destroy(Graph& graph);
  Graph& clone(const Graph& graph);

  GraphNode& add_node(Graph& graph, cudaGraphNodeType type);
  void destroy(GraphNode& node);

  Graph* find(cudaGraph_t handle) const { return graphs_.find(handle); }
  template <class F>
  void each(F f) const {
    graphs_.each(f);
  }
  GraphNode* find(cudaGraphNode_t handle) const { return nodes_.find(handle); }

 private:
  HandleTable<cudaGraph_t, Graph> graphs_{0x5e2000000000};
  HandleTable<cudaGraphNode_t, GraphNode> nodes_{0x5e3000000000};
};
GraphTable& graph_table();

bool has_edge(const GraphNode& from, const GraphNode& to);
/// Adds an edge unless the same one exists.
void add_edge(GraphNode& from, GraphNode& to, cudaGraphEdgeData data = {});
void remove_edge(GraphNode& from, GraphNode& to);
/// The node of a clone that stands for `original`, or nullptr. Looks into child graphs.
GraphNode* find_in_clone(const Graph& clone, cudaGraphNode_t original);

/// Nodes in an order in which every node follows its dependencies; earlier nodes first where edges
/// leave a choice. Shorter than graph.nodes if the graph has a cycle.
std::vector<GraphNode*> topological_order(const Graph& graph);

/// The node type that captured work becomes.
cudaGraphNodeType node_type(WorkKind kind);

}  // namespace halfgrad::emulator
