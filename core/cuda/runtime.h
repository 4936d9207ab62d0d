#pragma once

#include <string>

#include <halfgrad/core/memory_source.h>

/// What core asks of the CUDA runtime, without its types: streams, events and graphs are opaque
/// pointers. runtime.cu answers; in a build without CUDA, absent.cpp does: there is no device, and
/// whoever asks for more has overlooked that. Every function throws std::runtime_error where a CUDA
/// call fails, unless it is noexcept.
namespace halfgrad::detail::runtime {

int device_count() noexcept;
std::string why_unavailable();
int current_device();
void set_device(int index);
void synchronize_device(int device);

/// A stream that does not wait for the default one, which is nullptr. It is never destroyed.
void* create_stream(int device);
void synchronize_stream(int device, void* stream);

void* create_event(int device, bool timing);
void destroy_event(void* event) noexcept;
void record_event(int device, void* event, void* stream);
/// Work queued on `stream` from now on runs after the event; the host does not wait.
void make_wait(int device, void* stream, void* event);
bool has_passed(void* event);
void synchronize_event(void* event);
/// Milliseconds between two events that have passed.
float elapsed_time(void* start, void* end);

MemorySource device_memory(int device);
MemorySource pinned_memory();

bool is_capturing(int device, void* stream);
void begin_capture(int device, void* stream);
/// Ends the capture and returns the graph, ready to launch.
void* end_capture(int device, void* stream);
void launch_graph(int device, void* graph, void* stream);
void destroy_graph(void* graph) noexcept;

}  // namespace halfgrad::detail::runtime
