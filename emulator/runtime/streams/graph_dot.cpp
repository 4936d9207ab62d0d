#include <halfgrad/emulator/runtime/streams/graph_dot.h>

#include <fstream>
#include <map>

namespace halfgrad::emulator {
namespace {

const char* type_name(cudaGraphNodeType type) {
  switch (type) {
    case cudaGraphNodeTypeKernel:
      return "kernel";
    case cudaGraphNodeTypeMemcpy:
      return "memcpy";
    case cudaGraphNodeTypeMemset:
      return "memset";
    case cudaGraphNodeTypeHost:
      return "host function";
    case cudaGraphNodeTypeGraph:
      return "child graph";
    case cudaGraphNodeTypeWaitEvent:
      return "event wait";
    case cudaGraphNodeTypeEventRecord:
      return "event record";
    case cudaGraphNodeTypeMemAlloc:
      return "memory allocation";
    case cudaGraphNodeTypeMemFree:
      return "memory free";
    default:
      return "empty";
  }
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

void add_graph(const Graph& graph, const std::string& prefix, const std::string& indent,
               std::string& text) {
  std::map<const GraphNode*, std::string> names;
  for (const GraphNode* node : graph.nodes) {
    const std::string name = prefix + std::to_string(names.size());
    names[node] = name;
    std::string label = type_name(node->type);
    if (node->work != nullptr)
      label = escaped(node->work->name) + "\\n" + escaped(node->work->detail);
    text += indent + name + " [label=\"" + label + "\"];\n";
    if (node->child == nullptr) continue;
    text += indent + "subgraph cluster_" + name + " {\n";
    add_graph(*node->child, name + "_", indent + "  ", text);
    text += indent + "}\n";
  }
  for (const GraphNode* node : graph.nodes) {
    for (const GraphEdge& edge : node->dependencies) {
      text += indent + names.at(edge.from) + " -> " + names.at(node) + ";\n";
    }
  }
}

}  // namespace

std::string to_dot(const Graph& graph) {
  std::string text = "digraph graph_1 {\n  node [shape=box];\n";
  add_graph(graph, "node_", "  ", text);
  return text + "}\n";
}

bool write_dot(const Graph& graph, const std::string& path) {
  std::ofstream file(path);
  file << to_dot(graph);
  return static_cast<bool>(file.flush());
}

}  // namespace halfgrad::emulator
