#include <halfgrad/emulator/runtime/streams/capture.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

#include <halfgrad/emulator/runtime/call.h>
#include <halfgrad/emulator/runtime/process.h>

namespace halfgrad::emulator {
namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

std::vector<std::shared_ptr<Capture>>& active_captures() {
  static auto& captures = *new std::vector<std::shared_ptr<Capture>>;
  return captures;
}

/// Takes all streams out of the capture.
void leave(const std::shared_ptr<Capture>& capture) {
  for (Stream* stream : capture->streams) {
    stream->capture = nullptr;
    stream->capture_dependencies.clear();
  }
  capture->streams.clear();
  capture->graph->is_captured = false;
  std::erase(active_captures(), capture);
}

/// A node of the capture that the origin stream's last nodes do not follow, or nullptr.
const GraphNode* unjoined_node(const Capture& capture, const std::vector<GraphNode*>& last) {
  std::unordered_set<const GraphNode*> joined(last.begin(), last.end());
  std::vector<const GraphNode*> open(last.begin(), last.end());
  joined.insert(capture.detached.begin(), capture.detached.end());
  open.insert(open.end(), capture.detached.begin(), capture.detached.end());
  while (!open.empty()) {
    const GraphNode* const node = open.back();
    open.pop_back();
    for (const GraphEdge& edge : node->dependencies) {
      if (joined.insert(edge.from).second) open.push_back(edge.from);
    }
  }
  for (const GraphNode* node : capture.nodes) {
    if (joined.count(node) == 0) return node;
  }
  return nullptr;
}

cudaError_t refuse(Capture& capture, cudaError_t error, const std::string& why) {
  invalidate(capture, why);
  return error;
}

}  // namespace

cudaError_t begin_capture(Stream& stream, cudaStreamCaptureMode mode, Graph* graph,
                          std::vector<GraphNode*> dependencies) {
  static unsigned long long last_id = 0;
  if (stream.kind == Stream::Kind::legacy) {
    report_call(FindingKind::capture, "cudaStreamBeginCapture",
                "the legacy default stream cannot be captured; use a created stream");
    return cudaErrorStreamCaptureUnsupported;
  }
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  if (graph != nullptr && graph->is_captured) return cudaErrorInvalidValue;
  auto capture = std::make_shared<Capture>();
  capture->id = ++last_id;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->began_at = call_sites();
  capture->origin = &stream;
  capture->streams = {&stream};
  capture->owns_graph = graph == nullptr;
  capture->graph = graph != nullptr ? graph : &graph_table().make_graph();
  capture->graph->is_captured = true;
  active_captures().push_back(capture);
  stream.capture = std::move(capture);
  stream.capture_dependencies = std::move(dependencies);
  return cudaSuccess;
}

cudaError_t end_capture(Stream& stream, Graph*& graph) {
  graph = nullptr;
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return cudaErrorIllegalState;
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  if (capture->origin != &stream) {
    return refuse(*capture, cudaErrorStreamCaptureUnmatched,
                  "cudaStreamEndCapture: the capture began on " + capture->origin->name() +
                      ", not on " + stream.name());
  }
  const std::vector<GraphNode*> last = stream.capture_dependencies;
  cudaError_t error = capture->is_valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
  if (error == cudaSuccess) {
    if (const GraphNode* node = unjoined_node(*capture, last)) {
      const std::string name = node->work == nullptr ? "a node" : node->work->name;
      error = refuse(*capture, cudaErrorStreamCaptureUnjoined,
                     "cudaStreamEndCapture: " + stream.name() + " does not wait for " + name +
                         ", captured on another stream; record an event there and wait for it");
    }
  }
  leave(capture);
  if (error != cudaSuccess) {
    if (capture->owns_graph) graph_table().destroy(*capture->graph);
    return error;
  }
  graph = capture->graph;
  return cudaSuccess;
}

void invalidate(Capture& capture, const std::string& why) {
  if (!capture.is_valid) return;
  capture.is_valid = false;
  const std::size_t colon = why.find(": ");
  const std::string function = colon == std::string::npos ? "stream capture" : why.substr(0, colon);
  report_call(FindingKind::capture, function.c_str(),
              colon == std::string::npos ? why : why.substr(colon + 2));
}

void forget_stream(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture;
  if (capture == nullptr) return;
  if (capture->origin == &stream) {
    invalidate(*capture, "cudaStreamDestroy: " + stream.name() + " is being captured");
    leave(capture);
    if (capture->owns_graph) graph_table().destroy(*capture->graph);
  } else {
    std::erase(capture->streams, &stream);
  }
}

const Stream* captured_blocking_stream(int device) {
  for (const auto& capture : active_captures()) {
    for (const Stream* stream : capture->streams) {
      if (stream->device == device && stream->blocks_with_legacy()) return stream;
    }
  }
  return nullptr;
}

cudaError_t may_give_work(Stream& stream, const char* function) {
  if (stream.capture != nullptr) {
    return stream.capture->is_valid ? cudaSuccess : cudaErrorStreamCaptureInvalidated;
  }
  if (stream.kind != Stream::Kind::legacy) return cudaSuccess;
  const Stream* const captured = captured_blocking_stream(stream.device);
  if (captured == nullptr) return cudaSuccess;
  return refuse(*captured->capture, cudaErrorStreamCaptureImplicit,
                std::string(function) + ": the legacy default stream would wait for " +
                    captured->name() + ", which is being captured");
}

cudaError_t may_wait(Stream& stream, const char* function) {
  if (stream.capture != nullptr) {
    return refuse(*stream.capture, cudaErrorStreamCaptureUnsupported,
                  std::string(function) + ": " + stream.name() +
                      " is being captured, so its work does not run");
  }
  if (const cudaError_t error = may_give_work(stream, function)) return error;
  return refuse_unsafe_call(function);
}

cudaError_t refuse_unsafe_call(const char* function) {
  if (thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  cudaError_t error = cudaSuccess;
  for (const auto& capture : active_captures()) {
    const bool own = capture->thread == std::this_thread::get_id();
    const bool forbids = own ? capture->mode != cudaStreamCaptureModeRelaxed
                             : thread_mode == cudaStreamCaptureModeGlobal &&
                                   capture->mode == cudaStreamCaptureModeGlobal;
    if (!forbids) continue;
    error = refuse(*capture, cudaErrorStreamCaptureUnsupported,
                   std::string(function) + ": the call may synchronise, which the capture of " +
                       capture->origin->name() + " forbids");
  }
  return error;
}

GraphNode& capture_node(Stream& stream, cudaGraphNodeType type) {
  Capture& capture = *stream.capture;
  GraphNode& node = graph_table().add_node(*capture.graph, type);
  for (GraphNode* dependency : stream.capture_dependencies) add_edge(*dependency, node);
  capture.nodes.push_back(&node);
  stream.capture_dependencies = {&node};
  return node;
}

void add_capture_dependencies(Stream& stream, const std::vector<GraphNode*>& nodes) {
  auto& mine = stream.capture_dependencies;
  for (GraphNode* node : nodes) {
    if (std::find(mine.begin(), mine.end(), node) == mine.end()) mine.push_back(node);
  }
}

cudaError_t wait_for_captured_event(Stream& stream, Event& event) {
  const std::shared_ptr<Capture> capture = event.capture.lock();
  const auto& active = active_captures();
  if (capture == nullptr || std::find(active.begin(), active.end(), capture) == active.end()) {
    return cudaErrorCapturedEvent;
  }
  if (!capture->is_valid) return cudaErrorStreamCaptureInvalidated;
  if (stream.kind == Stream::Kind::legacy) {
    return refuse(*capture, cudaErrorStreamCaptureImplicit,
                  "cudaStreamWaitEvent: the legacy default stream cannot join a capture");
  }
  if (stream.capture != nullptr && stream.capture != capture) {
    invalidate(*stream.capture, "cudaStreamWaitEvent: the event belongs to another capture");
    return refuse(*capture, cudaErrorStreamCaptureMerge,
                  "cudaStreamWaitEvent: " + stream.name() + " belongs to another capture");
  }
  if (stream.capture == nullptr) {
    stream.capture = capture;
    capture->streams.push_back(&stream);
  }
  add_capture_dependencies(stream, event.capture_dependencies);
  return cudaSuccess;
}

cudaStreamCaptureMode exchange_thread_mode(cudaStreamCaptureMode mode) {
  return std::exchange(thread_mode, mode);
}

cudaError_t refuse_in_capture(const char* function) {
  const std::lock_guard lock(stream_state().mutex);
  return refuse_unsafe_call(function);
}

cudaError_t refuse_while_device_captures(const char* function, int device) {
  const std::lock_guard lock(stream_state().mutex);
  for (const auto& capture : active_captures()) {
    for (const Stream* stream : capture->streams) {
      if (stream->device != device) continue;
      return refuse(*capture, cudaErrorStreamCaptureUnsupported,
                    std::string(function) + ": " + stream->name() + " is being captured");
    }
  }
  return cudaSuccess;
}

}  // namespace halfgrad::emulator
