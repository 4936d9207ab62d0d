#include <algorithm>

#include <halfgrad/emulator/runtime/streams/api.h>
#include <halfgrad/emulator/runtime/streams/capture.h>

// Stream capture (CUDA Runtime API, "Stream Management"; CUDA programming guide, "CUDA Graphs").

namespace halfgrad::emulator {
namespace {

cudaError_t begin(const char* function, cudaStream_t handle, cudaStreamCaptureMode mode,
                  Graph* graph, std::vector<GraphNode*> dependencies) {
  Stream* const stream = find_stream(handle, function);
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (mode != cudaStreamCaptureModeGlobal && mode != cudaStreamCaptureModeThreadLocal &&
      mode != cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  return begin_capture(*stream, mode, graph, std::move(dependencies));
}

/// The nodes of the handles; false if one is not a node of the graph.
bool nodes_of(const Graph& graph, const cudaGraphNode_t* handles, std::size_t count,
              std::vector<GraphNode*>& nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    GraphNode* const node = graph_table().find(handles[i]);
    if (node == nullptr || node->graph != &graph) return false;
    nodes.push_back(node);
  }
  return true;
}

/// The capture's state of a stream. The legacy stream may not be asked while it would have to wait.
cudaError_t status_of(Stream& stream, cudaStreamCaptureStatus* status) {
  if (status == nullptr) return cudaErrorInvalidValue;
  if (stream.kind == Stream::Kind::legacy && captured_blocking_stream(stream.device) != nullptr) {
    return cudaErrorStreamCaptureImplicit;
  }
  *status = stream.capture == nullptr  ? cudaStreamCaptureStatusNone
            : stream.capture->is_valid ? cudaStreamCaptureStatusActive
                                       : cudaStreamCaptureStatusInvalidated;
  return cudaSuccess;
}

/// Handles and edge data that cudaStreamGetCaptureInfo lends until the thread's next call.
thread_local std::vector<cudaGraphNode_t> lent_nodes;
thread_local std::vector<cudaGraphEdgeData> lent_edges;

}  // namespace

HALFGRAD_EMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle,
                                                         cudaStreamCaptureMode mode) {
  constexpr const char* kFunction = "cudaStreamBeginCapture";
  return locked_call(kFunction,
                     [&](StreamState&) { return begin(kFunction, handle, mode, nullptr, {}); });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamBeginCaptureToGraph(
    cudaStream_t handle, cudaGraph_t graph_handle, const cudaGraphNode_t* dependencies,
    const cudaGraphEdgeData*, std::size_t count, cudaStreamCaptureMode mode) {
  constexpr const char* kFunction = "cudaStreamBeginCaptureToGraph";
  return locked_call(kFunction, [&](StreamState&) {
    Graph* const graph = graph_table().find(graph_handle);
    std::vector<GraphNode*> nodes;
    if (graph == nullptr || !nodes_of(*graph, dependencies, count, nodes)) {
      return cudaErrorInvalidValue;
    }
    return begin(kFunction, handle, mode, graph, std::move(nodes));
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* out) {
  constexpr const char* kFunction = "cudaStreamEndCapture";
  return locked_call(kFunction, [&](StreamState&) {
    if (out != nullptr) *out = nullptr;
    Stream* const stream = find_stream(handle, kFunction);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    const bool owns_graph = stream->capture != nullptr && stream->capture->owns_graph;
    Graph* graph = nullptr;
    const cudaError_t error = end_capture(*stream, graph);
    if (graph == nullptr) return error;
    if (out != nullptr) {
      *out = graph->handle;
      if (graph->made_at.empty()) graph->made_at = call_sites();
    } else if (owns_graph) {
      graph_table().destroy(*graph);
    }
    return error;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                                        cudaStreamCaptureStatus* status) {
  constexpr const char* kFunction = "cudaStreamIsCapturing";
  return locked_call(kFunction, [&](StreamState&) {
    Stream* const stream = find_stream(handle, kFunction);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : status_of(*stream, status);
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t handle, cudaStreamCaptureStatus* status, unsigned long long* id,
    cudaGraph_t* graph, const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
    std::size_t* count) {
  constexpr const char* kFunction = "cudaStreamGetCaptureInfo";
  return locked_call(kFunction, [&](StreamState&) {
    Stream* const stream = find_stream(handle, kFunction);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = status_of(*stream, status)) return error;
    if (*status != cudaStreamCaptureStatusActive) return cudaSuccess;
    lent_nodes.clear();
    for (const GraphNode* node : stream->capture_dependencies) lent_nodes.push_back(node->handle);
    lent_edges.assign(lent_nodes.size(), cudaGraphEdgeData{});
    if (id != nullptr) *id = stream->capture->id;
    if (graph != nullptr) *graph = stream->capture->graph->handle;
    if (dependencies != nullptr) *dependencies = lent_nodes.data();
    if (edges != nullptr) *edges = lent_edges.data();
    if (count != nullptr) *count = lent_nodes.size();
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t handle,
                                                                      cudaGraphNode_t* dependencies,
                                                                      const cudaGraphEdgeData*,
                                                                      std::size_t count,
                                                                      unsigned flags) {
  constexpr const char* kFunction = "cudaStreamUpdateCaptureDependencies";
  return locked_call(kFunction, [&](StreamState&) {
    Stream* const stream = find_stream(handle, kFunction);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->capture == nullptr) return cudaErrorIllegalState;
    Capture& capture = *stream->capture;
    if (!capture.is_valid) return cudaErrorStreamCaptureInvalidated;
    std::vector<GraphNode*> nodes;
    if (!nodes_of(*capture.graph, dependencies, count, nodes)) return cudaErrorInvalidValue;
    if (flags == cudaStreamSetCaptureDependencies) {
      // The program joins the replaced nodes itself, so the end of the capture does not ask for
      // them.
      auto& replaced = stream->capture_dependencies;
      capture.detached.insert(capture.detached.end(), replaced.begin(), replaced.end());
      replaced = std::move(nodes);
    } else if (flags == cudaStreamAddCaptureDependencies) {
      add_capture_dependencies(*stream, nodes);
    } else {
      return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

HALFGRAD_EMULATOR_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return stream_call("cudaThreadExchangeStreamCaptureMode", [&] {
    if (mode == nullptr) return cudaErrorInvalidValue;
    *mode = exchange_thread_mode(*mode);
    return cudaSuccess;
  });
}

}  // namespace halfgrad::emulator
