#include <cstdint>
#include <optional>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/python/bindings/bindings.h>

/// Streams, events and captured graphs of GPUs. On the CPU they do what their comments say.
namespace halfgrad::python {
namespace {

void bind_stream(nb::module_& cuda) {
  nb::class_<Stream>(
      cuda, "Stream",
      "A queue of work for a device: one of 32, in turn. Work on one stream runs in\n"
      "order. On the CPU work is finished when the call returns.")
      .def(
          "__init__", [](Stream* self, Device device) { new (self) Stream(device); },
          "device"_a = "cuda")
      .def_prop_ro("device", &Stream::device)
      .def_prop_ro(
          "cuda_stream",
          [](const Stream& self) { return reinterpret_cast<std::uintptr_t>(self.native()); },
          "The cudaStream_t, as an integer.")
      .def("synchronize", &Stream::synchronize, ReleaseGil(),
           "Waits until all work queued so far is done.")
      .def("wait_event", &Stream::wait_event, "event"_a)
      .def("wait_stream", &Stream::wait_stream, "stream"_a,
           "Makes later work on this stream wait for all work queued on the other so far.")
      .def(
          "__eq__", [](const Stream& a, const Stream& b) { return a == b; }, nb::is_operator());
  cuda.def("current_stream", &current_stream, "device"_a = "cuda");
  cuda.def("default_stream", &default_stream, "device"_a = "cuda");
  cuda.def("set_stream", &Scope::of<StreamScope, Stream>, "stream"_a,
           "Makes the stream current until the result's end().");
  cuda.def("synchronize", &cuda::synchronize, "device"_a = "cuda", ReleaseGil(),
           "Waits until all streams of the device are done.");
  cuda.def(
      "empty_cache",
      [] {
        for (int i = 0; i < cuda::device_count(); ++i) allocator::empty_cache(Device(kCUDA, i));
      },
      ReleaseGil(), "Gives memory that no tensor uses back to the GPUs.");
}

void bind_event(nb::module_& cuda) {
  nb::class_<Event>(cuda, "Event", "A point in the work of a stream.")
      .def(nb::init<bool>(), "enable_timing"_a = false)
      .def(
          "record",
          [](Event& self, const std::optional<Stream>& stream) {
            self.record(stream ? *stream : current_stream(kCUDA));
          },
          "stream"_a = nb::none(), "Records all work queued on the stream so far.")
      .def(
          "wait",
          [](const Event& self, const std::optional<Stream>& stream) {
            self.wait(stream ? *stream : current_stream(kCUDA));
          },
          "stream"_a = nb::none(), "Makes later work on the stream wait for this event.")
      .def("query", &Event::query, "Whether the recorded work is done.")
      .def("synchronize", &Event::synchronize, ReleaseGil())
      .def("elapsed_time", &Event::elapsed_time, "end_event"_a,
           "Milliseconds from this event to `end_event`.");
}

void bind_graph(nb::module_& cuda) {
  nb::class_<Graph>(
      cuda, "CUDAGraph",
      "The GPU work of a function, captured once and replayed by one call. On the CPU capture()\n"
      "keeps the function and replay() calls it.")
      .def(
          "__init__", [](Graph* self, Device device) { new (self) Graph(device); },
          "device"_a = "cuda")
      .def(
          "capture",
          [](Graph& self, const nb::typed<nb::callable, void()>& function) {
            const auto call = function_calling<void>(function);
            const nb::gil_scoped_release release;
            self.capture(call);
          },
          "function"_a, "Captures the work that function() queues; computes nothing.")
      .def("capture_begin", &Graph::capture_begin)
      .def("capture_end", &Graph::capture_end)
      .def("replay", &Graph::replay, ReleaseGil(), "Queues the captured work.");
}

}  // namespace

void bind_streams(nb::module_& module) {
  nb::module_ cuda = nb::borrow<nb::module_>(module.attr("cuda"));
  bind_event(cuda);
  bind_stream(cuda);
  bind_graph(cuda);
}

}  // namespace halfgrad::python
