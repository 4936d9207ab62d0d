// Calls that a stream capture forbids, and captures that never end.
#include "../planted.h"

__global__ void fill(int* x) { x[threadIdx.x] = 1; }

struct Capture {
  cudaStream_t stream, other;
  Capture() {
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  }
  ~Capture() {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(stream, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaStreamDestroy(stream);
    cudaStreamDestroy(other);
    cudaGetLastError();
  }
};

void waits() {
  Buffer<int> x(32);
  Capture capture;
  fill<<<1, 32, 0, capture.stream>>>(x);
  cudaStreamSynchronize(capture.stream);  // expect waits: capture
}

void waits_for_device() {
  Buffer<int> x(32);
  Capture capture;
  fill<<<1, 32, 0, capture.stream>>>(x);
  cudaDeviceSynchronize();  // expect waits_for_device: capture
}

void allocates() {
  Capture capture;
  int* x = nullptr;
  cudaMalloc(&x, 128);  // expect allocates: capture
}

void copies() {
  Buffer<int> x(32);
  int host[32];
  Capture capture;
  fill<<<1, 32, 0, capture.stream>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);  // expect copies: capture
}

void reads_host_later() {
  Buffer<int> x(32);
  int host[32] = {};
  Capture capture;
  const cudaMemcpyKind up = cudaMemcpyHostToDevice;
  const cudaStream_t stream = capture.stream;
  cudaMemcpyAsync(x, host, sizeof host, up, stream);  // expect reads_host_later: note-capture
}

void legacy_stream() {
  Buffer<int> x(32);
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  fill<<<1, 32>>>(x);  // expect legacy_stream: capture
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaStreamDestroy(stream);
  cudaGetLastError();
}

void default_captured() {
  cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal);  // expect default_captured: capture
}

void queries_event() {
  Buffer<int> x(32);
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  {
    Capture capture;
    fill<<<1, 32, 0, capture.stream>>>(x);
    CHECK(cudaEventRecord(event, capture.stream));
    cudaEventSynchronize(event);  // expect queries_event: capture
  }
  cudaEventDestroy(event);
}

void unjoined() {
  Buffer<int> x(32), y(32);
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  Capture capture;
  CHECK(cudaEventRecord(event, capture.stream));
  CHECK(cudaStreamWaitEvent(capture.other, event, 0));
  fill<<<1, 32, 0, capture.stream>>>(x);
  fill<<<1, 32, 0, capture.other>>>(y);
  cudaGraph_t graph;
  cudaStreamEndCapture(capture.stream, &graph);  // expect unjoined: capture
  cudaEventDestroy(event);
}

void event_from_outside() {
  Buffer<int> x(32);
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  {
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
    fill<<<1, 32, 0, stream>>>(x);
    CHECK(cudaEventRecord(event, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
  }
  Capture capture;
  cudaStreamWaitEvent(capture.stream, event, 0);  // expect event_from_outside: capture
  cudaEventDestroy(event);
}

void left_open() {
  Buffer<int> x(32);
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));  // expect left_open: capture
  fill<<<1, 32, 0, stream>>>(x);
}

void destroyed() {
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  cudaStreamDestroy(stream);  // expect destroyed: capture
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"waits", waits},
                   {"waits_for_device", waits_for_device},
                   {"allocates", allocates},
                   {"copies", copies},
                   {"reads_host_later", reads_host_later},
                   {"legacy_stream", legacy_stream},
                   {"default_captured", default_captured},
                   {"queries_event", queries_event},
                   {"unjoined", unjoined},
                   {"event_from_outside", event_from_outside},
                   {"left_open", left_open},
                   {"destroyed", destroyed}});
}
