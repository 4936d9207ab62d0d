#pragma once

#include <string>

#include <halfgrad/core/device_properties.h>
#include <halfgrad/core/memory/memory_source.h>

/// The CUDA runtime without its types: streams, events and graphs are opaque pointers. runtime.cu
/// implements it; a function throws std::runtime_error if a CUDA call fails, unless it is noexcept.
/// In a build without CUDA absent.cpp implements it: there are no devices, and functions that need
/// one throw std::logic_error.
namespace halfgrad::detail::runtime {

int device_count() noexcept;
std::string why_unavailable();
int current_device();
void set_device(int index);
cuda::DeviceProperties device_properties(int device);
void synchronize_device(int device);

/// Creates a stream that does not wait for the default one, nullptr. It is never destroyed.
void* create_stream(int device, bool high_priority = false);
void synchronize_stream(int device, void* stream);

void* create_event(int device, bool timing);
void destroy_event(void* event) noexcept;
void record_event(int device, void* event, void* stream);
/// Makes later work on `stream` wait for the event; the host does not wait.
void make_wait(int device, void* stream, void* event);
bool has_passed(void* event);
void synchronize_event(void* event);
/// Returns the milliseconds between two events that have passed.
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
