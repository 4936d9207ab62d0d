#pragma once

#include <halfgrad/emulator/runtime/streams/graph.h>
#include <halfgrad/emulator/runtime/streams/node_contents.h>

namespace halfgrad::emulator {

/// Gives a node its contents. The types must agree; an event must exist; a child graph is copied or
/// moved. Called with StreamState::mutex held.
cudaError_t set_contents(const char* function, GraphNode& node, NodeContents contents);

/// Copies to and from a variable of a module, as contents of a node. Called without a lock.
cudaError_t copy_to_symbol(const void* symbol, const void* from, std::size_t bytes,
                           std::size_t offset, cudaMemcpyKind kind, NodeContents& contents);
cudaError_t copy_from_symbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                             cudaMemcpyKind kind, NodeContents& contents);

}  // namespace halfgrad::emulator
