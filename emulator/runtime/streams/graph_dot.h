#pragma once

#include <string>

#include <halfgrad/emulator/runtime/streams/graph.h>

namespace halfgrad::emulator {

/// A graph in the language of Graphviz: a box for each node, a cluster for each child graph.
std::string to_dot(const Graph& graph);
/// Writes to_dot() to a file; false if that fails.
bool write_dot(const Graph& graph, const std::string& path);

}  // namespace halfgrad::emulator
