#include <halfgrad/emulator/runtime/streams/graph.h>

#include <algorithm>
#include <queue>
#include <unordered_map>

#include <halfgrad/emulator/runtime/streams/conditional.h>

namespace halfgrad::emulator {

GraphTable& graph_table() {
  static auto& table = *new GraphTable;  // never destroyed: static objects may own graphs
  return table;
}

Graph& GraphTable::make_graph() {
  auto made = std::make_unique<Graph>();
  Graph& graph = *made;
  graph.handle = graphs_.add(std::move(made));
  return graph;
}

GraphNode& GraphTable::add_node(Graph& graph, cudaGraphNodeType type) {
  auto made = std::make_unique<GraphNode>();
  GraphNode& node = *made;
  node.graph = &graph;
  node.type = type;
  node.handle = nodes_.add(std::move(made));
  graph.nodes.push_back(&node);
  return node;
}

void GraphTable::destroy(GraphNode& node) {
  while (!node.dependencies.empty()) remove_edge(*node.dependencies.back().from, node);
  while (!node.dependents.empty()) remove_edge(node, *node.dependents.back());
  if (node.child != nullptr) destroy(*node.child);
  if (node.conditional != nullptr) destroy_bodies(*node.conditional);
  std::erase(node.graph->nodes, &node);
  nodes_.take(node.handle);
}

void GraphTable::destroy(Graph& graph) {
  for (GraphNode* node : graph.nodes) {
    if (node->child != nullptr) destroy(*node->child);
    if (node->conditional != nullptr) destroy_bodies(*node->conditional);
    nodes_.take(node->handle);
  }
  graphs_.take(graph.handle);
}

Graph& GraphTable::clone(const Graph& graph) {
  Graph& copy = make_graph();
  copy.original = graph.handle;
  copy.user_objects = graph.user_objects;
  std::unordered_map<const GraphNode*, GraphNode*> copies;
  for (const GraphNode* node : graph.nodes) {
    GraphNode& node_copy = add_node(copy, node->type);
    node_copy.original = node->handle;
    node_copy.work = node->work;
    node_copy.event = node->event;
    node_copy.memory = node->memory;
    node_copy.enabled = node->enabled;
    if (node->child != nullptr) {
      node_copy.child = &clone(*node->child);
      node_copy.child->parent = &node_copy;
    }
    if (node->conditional != nullptr) {
      node_copy.conditional = halfgrad::emulator::clone(*node->conditional);
    }
    copies[node] = &node_copy;
  }
  for (const GraphNode* node : graph.nodes) {
    for (const GraphEdge& edge : node->dependencies) {
      add_edge(*copies.at(edge.from), *copies.at(node), edge.data);
    }
  }
  return copy;
}

bool has_edge(const GraphNode& from, const GraphNode& to) {
  return std::find(from.dependents.begin(), from.dependents.end(), &to) != from.dependents.end();
}

void add_edge(GraphNode& from, GraphNode& to, cudaGraphEdgeData data) {
  if (has_edge(from, to)) return;
  to.dependencies.push_back({&from, data});
  from.dependents.push_back(&to);
}

void remove_edge(GraphNode& from, GraphNode& to) {
  std::erase_if(to.dependencies, [&](const GraphEdge& edge) { return edge.from == &from; });
  std::erase(from.dependents, &to);
}

GraphNode* find_in_clone(const Graph& clone, cudaGraphNode_t original) {
  for (GraphNode* node : clone.nodes) {
    if (node->original == original) return node;
    std::vector<Graph*> parts;
    if (node->conditional != nullptr) parts = node->conditional->bodies;
    if (node->child != nullptr) parts.push_back(node->child);
    for (const Graph* const part : parts) {
      if (GraphNode* const inside = find_in_clone(*part, original)) return inside;
    }
  }
  return nullptr;
}

std::vector<GraphNode*> topological_order(const Graph& graph) {
  std::unordered_map<const GraphNode*, std::size_t> number, open_dependencies;
  std::priority_queue<std::size_t, std::vector<std::size_t>, std::greater<>> ready;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    number[graph.nodes[i]] = i;
    open_dependencies[graph.nodes[i]] = graph.nodes[i]->dependencies.size();
    if (graph.nodes[i]->dependencies.empty()) ready.push(i);
  }
  std::vector<GraphNode*> order;
  while (!ready.empty()) {
    GraphNode* const node = graph.nodes[ready.top()];
    ready.pop();
    order.push_back(node);
    for (const GraphNode* dependent : node->dependents) {
      if (--open_dependencies[dependent] == 0) ready.push(number[dependent]);
    }
  }
  return order;
}

cudaGraphNodeType node_type(WorkKind kind) {
  switch (kind) {
    case WorkKind::copy:
      return cudaGraphNodeTypeMemcpy;
    case WorkKind::memset:
      return cudaGraphNodeTypeMemset;
    case WorkKind::host_function:
      return cudaGraphNodeTypeHost;
    case WorkKind::kernel:
    case WorkKind::library:
    case WorkKind::allocation:
      break;
  }
  return cudaGraphNodeTypeKernel;
}

}  // namespace halfgrad::emulator
