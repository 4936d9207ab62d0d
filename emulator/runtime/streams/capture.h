#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <cuda_runtime_api.h>

#include <halfgrad/emulator/runtime/streams/graph.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

namespace halfgrad::emulator {

/// A capture of one stream and those that events fork from it (CUDA programming guide, "Stream
/// Capture"). The streams share it until the origin stream ends it.
struct Capture {
  unsigned long long id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;
  bool is_valid = true;
  std::string began_at;  ///< call sites
  Stream* origin = nullptr;
  std::vector<Stream*> streams;  ///< origin first
  Graph* graph = nullptr;
  bool owns_graph = true;         ///< false: cudaStreamBeginCaptureToGraph
  std::vector<GraphNode*> nodes;  ///< added by the capture
  /// Nodes that cudaStreamUpdateCaptureDependencies replaced: the program joins them itself.
  std::vector<GraphNode*> detached;
};

// All functions here are called with StreamState::mutex held.

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode, Graph* graph,
                          std::vector<GraphNode*> dependencies);
/// Ends the capture that began on the stream. `graph` is nullptr if it failed.
cudaError_t end_capture(Stream& stream, Graph*& graph);
/// The capture cannot succeed any more; a finding says why.
void invalidate(Capture& capture, const std::string& why);
/// Takes a stream that is destroyed out of its capture. The capture ends with its origin stream;
/// the end of the capture finds work of other streams that nothing joined.
void forget_stream(Stream& stream);

/// Whether the stream may get work now: a captured one if its capture is valid, the legacy stream
/// if no stream that waits for it is captured.
cudaError_t may_give_work(Stream& stream, const char* function);
/// Whether a call may wait for or ask about the stream: not while the stream is captured.
cudaError_t may_wait(Stream& stream, const char* function);
/// Whether the calling thread may make a call that might synchronise implicitly.
cudaError_t refuse_unsafe_call(const char* function);

/// Adds a node behind the stream's captured work.
GraphNode& capture_node(Stream& stream, cudaGraphNodeType type);
/// The stream's next node also depends on these.
void add_capture_dependencies(Stream& stream, const std::vector<GraphNode*>& nodes);
/// cudaStreamWaitEvent for an event that was recorded in a capture: forks or joins.
cudaError_t wait_for_captured_event(Stream& stream, Event& event);

/// A blocking stream of the device that is captured, or nullptr.
const Stream* captured_blocking_stream(int device);
/// cudaThreadExchangeStreamCaptureMode.
cudaStreamCaptureMode exchange_thread_mode(cudaStreamCaptureMode mode);

}  // namespace halfgrad::emulator
