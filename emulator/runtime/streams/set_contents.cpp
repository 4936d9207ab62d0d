#include <halfgrad/emulator/runtime/streams/set_contents.h>

#include <utility>

#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/graph_api.h>

namespace halfgrad::emulator {
namespace {

/// The address of a variable of `bytes` bytes after the offset, or nullptr.
std::byte* symbol_address(const void* symbol, std::size_t bytes, std::size_t offset,
                          cudaError_t& error) {
  void* address = nullptr;
  std::size_t size = 0;
  error = cudaGetSymbolAddress(&address, symbol);
  if (error == cudaSuccess) error = cudaGetSymbolSize(&size, symbol);
  if (error == cudaSuccess && (offset > size || bytes > size - offset))
    error = cudaErrorInvalidValue;
  return error == cudaSuccess ? static_cast<std::byte*>(address) + offset : nullptr;
}

cudaError_t set_child(const char* function, GraphNode& node, const NodeContents& contents) {
  Graph* const child = find_graph(contents.child, function);
  if (child == nullptr || child == node.graph || child->parent != nullptr || child->is_captured) {
    return cudaErrorInvalidValue;
  }
  if (node.child != nullptr) graph_table().destroy(*node.child);
  node.child = contents.child_moves ? child : &graph_table().clone(*child);
  node.child->parent = &node;
  return cudaSuccess;
}

}  // namespace

cudaError_t set_contents(const char* function, GraphNode& node, NodeContents contents) {
  if (node.type != contents.type) {
    report_call(FindingKind::invalid_call, function, "the node has another type", Severity::note);
    return cudaErrorInvalidValue;
  }
  if (contents.event != nullptr || contents.type == cudaGraphNodeTypeWaitEvent ||
      contents.type == cudaGraphNodeTypeEventRecord) {
    if (find_event(contents.event, function) == nullptr) return cudaErrorInvalidResourceHandle;
  }
  if (node.work != nullptr && node.work->parameters != nullptr &&
      node.work->parameters->cluster.x != 0) {
    return not_implemented(function, "new parameters of a node whose launch chose clusters");
  }
  if (contents.type == cudaGraphNodeTypeGraph) return set_child(function, node, contents);
  node.work = std::move(contents.work);
  node.event = contents.event;
  node.memory = std::move(contents.memory);
  node.conditional = std::move(contents.conditional);
  return cudaSuccess;
}

cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, NodeContents& contents) {
  cudaError_t error = cudaSuccess;
  void* const to = symbol_address(symbol, bytes, offset, error);
  return to == nullptr ? error : copy_contents(to, from, bytes, kind, contents);
}

cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind, NodeContents& contents) {
  cudaError_t error = cudaSuccess;
  const void* const from = symbol_address(symbol, bytes, offset, error);
  return from == nullptr ? error : copy_contents(to, from, bytes, kind, contents);
}

}  // namespace halfgrad::emulator
