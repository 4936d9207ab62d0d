#include <halfgrad/emulator/runtime/streams/unfinished.h>

#include <mutex>
#include <string>

#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/emulator/runtime/streams/capture.h>
#include <halfgrad/emulator/runtime/streams/stream_state.h>

namespace halfgrad::emulator {
namespace {

void leaked(const char* function, const std::string& made_at, const char* object) {
  if (made_at.empty()) return;  // the emulator made it
  report_call(FindingKind::leak, (std::string(function) + " at " + made_at).c_str(),
              std::string(object) + " was never destroyed");
}

}  // namespace

void report_unfinished(bool leaks) {
  StreamState& state = stream_state();
  const std::lock_guard lock(state.mutex);
  state.streams.each([&](const Stream& stream) {
    const Capture* const capture = stream.capture.get();
    if (capture == nullptr || capture->origin != &stream) return;
    report_call(FindingKind::capture, ("cudaStreamBeginCapture at " + capture->began_at).c_str(),
                "the capture of " + stream.name() + " never ended, so its work never ran");
  });
  if (!leaks) return;
  state.streams.each(
      [](const Stream& stream) { leaked("cudaStreamCreate", stream.made_at, "a stream"); });
  state.events.each(
      [](const Event& event) { leaked("cudaEventCreate", event.made_at, "an event"); });
  graph_table().each([](const Graph& graph) {
    if (graph.is_captured) return;
    const bool ready = graph.is_executable;
    leaked(ready ? "cudaGraphInstantiate" : "cudaGraphCreate", graph.made_at,
           ready ? "an executable graph" : "a graph");
  });
}

}  // namespace halfgrad::emulator
