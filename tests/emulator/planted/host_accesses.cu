// The host accesses memory that it shares with the GPU before it has waited for the GPU's work.
#include "../planted.h"

constexpr int kCount = 1000, kBytes = kCount * sizeof(int);
static volatile int sink;

__global__ void fill(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}

__global__ void add(const int* x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += x[i];
}

struct Shared {
  explicit Shared(bool managed) {
    if (managed) {
      CHECK(cudaMallocManaged(&data, kBytes));
    } else {
      CHECK(cudaMallocHost(&data, kBytes));
    }
    for (int i = 0; i < kCount; ++i) data[i] = 0;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaDeviceSynchronize());
  }
  ~Shared() {
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamDestroy(stream));
    free_data();
  }
  void free_data() {
    cudaPointerAttributes attributes;
    CHECK(cudaPointerGetAttributes(&attributes, data));
    CHECK(attributes.type == cudaMemoryTypeManaged ? cudaFree(data) : cudaFreeHost(data));
  }
  int* data = nullptr;
  cudaStream_t stream = nullptr;
};

void managed_read() {
  Shared x(true);
  fill<<<4, 256>>>(x.data, kCount);
  int sum = 0;
  for (int i = 0; i < kCount; ++i) {
    sum += x.data[i];  // expect managed_read: stream-race
  }
  sink = sum;
}

void managed_write() {
  Shared x(true);
  Buffer<int> y(kCount);
  CHECK(cudaDeviceSynchronize());
  add<<<4, 256>>>(x.data, y, kCount);
  x.data[7] = 1;  // expect managed_write: stream-race
  CHECK(cudaDeviceSynchronize());
}

void mapped_write() {
  Shared x(false);
  Buffer<int> y(kCount);
  CHECK(cudaDeviceSynchronize());
  add<<<4, 256>>>(x.data, y, kCount);
  x.data[0] = 9;  // expect mapped_write: stream-race
  CHECK(cudaDeviceSynchronize());
}

void copied_read() {
  Shared x(false);
  Buffer<int> y(kCount);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpyAsync(x.data, y, kBytes, cudaMemcpyDeviceToHost, x.stream));
  sink = x.data[3];  // expect copied_read: stream-race
  CHECK(cudaDeviceSynchronize());
}

void other_stream() {
  Shared x(false), other(false);
  fill<<<4, 256, 0, x.stream>>>(x.data, kCount);
  CHECK(cudaStreamSynchronize(other.stream));
  sink = x.data[5];  // expect other_stream: stream-race
}

void event_before() {
  Shared x(false);
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  CHECK(cudaEventRecord(event, x.stream));
  fill<<<4, 256, 0, x.stream>>>(x.data, kCount);
  CHECK(cudaEventSynchronize(event));
  sink = x.data[5];  // expect event_before: stream-race
  CHECK(cudaEventDestroy(event));
}

void graph() {
  Shared x(false);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(x.stream, cudaStreamCaptureModeGlobal));
  fill<<<4, 256, 0, x.stream>>>(x.data, kCount);
  CHECK(cudaStreamEndCapture(x.stream, &graph));
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, x.stream));
  sink = x.data[1];  // expect graph: stream-race
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"managed_read", managed_read},
                   {"managed_write", managed_write},
                   {"mapped_write", mapped_write},
                   {"copied_read", copied_read},
                   {"other_stream", other_stream},
                   {"event_before", event_before},
                   {"graph", graph}});
}
