// Streams and the host that do not wait for each other.
#include "../planted.h"

constexpr int kCount = 256;
constexpr std::size_t kBytes = kCount * sizeof(int);

__global__ void fill(int* x, int value) {
  x[threadIdx.x] = value;  // expect wrong_event_order: stream-race
                           // expect written_while_read: stream-race
}
__global__ void twice(const int* x, int* y) {
  y[threadIdx.x] = 2 * x[threadIdx.x];  // expect no_event: stream-race
                                        // expect event_before_work: stream-race
                                        // expect legacy_and_non_blocking: stream-race
                                        // expect upload_not_waited: stream-race
                                        // expect graph_and_stream: stream-race
}

__constant__ int factors[2 * kCount];
__global__ void multiply(int* x, int part) {
  x[threadIdx.x] *= factors[part * kCount + threadIdx.x];
}

struct Streams {
  cudaStream_t first, second;
  Streams() {
    CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  }
  ~Streams() {
    cudaDeviceSynchronize();
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
  }
};

struct Pinned {
  int* data = nullptr;
  Pinned() {
    CHECK(cudaMallocHost(&data, kBytes));
    std::memset(data, 0, kBytes);
  }
  ~Pinned() {
    cudaDeviceSynchronize();
    cudaFreeHost(data);
  }
};

void no_event() {
  Buffer<int> x(kCount), y(kCount);
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  fill<<<1, kCount, 0, streams.first>>>(x, 3);
  twice<<<1, kCount, 0, streams.second>>>(x, y);
}

void event_before_work() {
  Buffer<int> x(kCount), y(kCount);
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  cudaEvent_t filled;
  CHECK(cudaEventCreate(&filled));
  CHECK(cudaEventRecord(filled, streams.first));
  fill<<<1, kCount, 0, streams.first>>>(x, 3);
  CHECK(cudaStreamWaitEvent(streams.second, filled, 0));
  twice<<<1, kCount, 0, streams.second>>>(x, y);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventDestroy(filled));
}

void wrong_event_order() {
  Buffer<int> x(kCount), y(kCount);
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  cudaEvent_t ready;
  CHECK(cudaEventCreate(&ready));
  twice<<<1, kCount, 0, streams.first>>>(x, y);
  CHECK(cudaStreamWaitEvent(streams.second, ready, 0));
  CHECK(cudaEventRecord(ready, streams.first));
  fill<<<1, kCount, 0, streams.second>>>(x, 3);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventDestroy(ready));
}

void written_while_read() {
  Buffer<int> x(kCount);
  Pinned host;
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  CHECK(cudaMemcpyAsync(host.data, x, kBytes, cudaMemcpyDeviceToHost, streams.first));
  fill<<<1, kCount, 0, streams.second>>>(x, 3);
}

void legacy_and_non_blocking() {
  Buffer<int> x(kCount), y(kCount);
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  fill<<<1, kCount>>>(x, 3);
  twice<<<1, kCount, 0, streams.first>>>(x, y);
}

void upload_not_waited() {
  Buffer<int> x(kCount), y(kCount);
  Pinned host;
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  CHECK(cudaMemcpyAsync(x, host.data, kBytes, cudaMemcpyHostToDevice, streams.first));
  twice<<<1, kCount, 0, streams.second>>>(x, y);
}

void constant_written() {
  Buffer<int> x(kCount);
  Pinned host;
  CHECK(cudaMemcpyToSymbol(factors, host.data, kBytes));
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  const auto upload = [&](cudaStream_t stream) {
    CHECK(cudaMemcpyToSymbolAsync(factors, host.data, kBytes, 0, cudaMemcpyHostToDevice, stream));
  };
  multiply<<<1, kCount, 0, streams.first>>>(x, 0);
  upload(streams.second);  // expect constant_written: stream-race
}

void graph_and_stream() {
  Buffer<int> x(kCount), y(kCount);
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(streams.first, cudaStreamCaptureModeGlobal));
  fill<<<1, kCount, 0, streams.first>>>(x, 4);
  CHECK(cudaStreamEndCapture(streams.first, &graph));
  CHECK(cudaGraphInstantiate(&ready, graph, 0));
  CHECK(cudaGraphLaunch(ready, streams.first));
  twice<<<1, kCount, 0, streams.second>>>(x, y);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaGraphExecDestroy(ready));
  CHECK(cudaGraphDestroy(graph));
}

// The host and the device. Late streams show what the host did not wait for.

void expect(bool condition) {
  cudaDeviceSynchronize();
  if (!condition) std::exit(1);
}

void read_before_copy_ends() {
  Buffer<int> x(kCount);
  Pinned host;
  fill<<<1, kCount>>>(x, 5);
  CHECK(cudaMemcpyAsync(host.data, x, kBytes, cudaMemcpyDeviceToHost));
  const int value = host.data[3];  // expect read_before_copy_ends: wrong-result
  expect(value == 5);
}

void buffer_reused() {
  Buffer<int> x(kCount), y(kCount);
  Pinned host;
  host.data[0] = 1;
  CHECK(cudaMemcpyAsync(x, host.data, kBytes, cudaMemcpyHostToDevice));
  host.data[0] = 2;  // expect buffer_reused: wrong-result
  CHECK(cudaMemcpyAsync(y, host.data, kBytes, cudaMemcpyHostToDevice));
  int first = 0;
  CHECK(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost));
  expect(first == 1);
}

void mapped_no_wait() {
  Pinned host;
  fill<<<1, kCount>>>(host.data, 5);
  const int value = host.data[3];  // expect mapped_no_wait: wrong-result
  expect(value == 5);
}

void managed_no_wait() {
  int* x = nullptr;
  CHECK(cudaMallocManaged(&x, kBytes));
  fill<<<1, kCount>>>(x, 5);
  const int value = x[3];  // expect managed_no_wait: wrong-result
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  expect(value == 5);
}

void wrong_stream_waited() {
  Buffer<int> x(kCount);
  Pinned host;
  CHECK(cudaDeviceSynchronize());
  Streams streams;
  fill<<<1, kCount, 0, streams.first>>>(x, 5);
  CHECK(cudaMemcpyAsync(host.data, x, kBytes, cudaMemcpyDeviceToHost, streams.first));
  CHECK(cudaStreamSynchronize(streams.second));
  const int value = host.data[3];  // expect wrong_stream_waited: wrong-result
  expect(value == 5);
}

void copied_into_twice() {
  Buffer<int> x(kCount), y(kCount);
  Pinned host;
  Streams streams;
  CHECK(cudaDeviceSynchronize());
  const cudaMemcpyKind down = cudaMemcpyDeviceToHost;
  int* const to = host.data;
  const cudaStream_t other = streams.second;
  CHECK(cudaMemcpyAsync(to, x, kBytes, down, streams.first));
  CHECK(cudaMemcpyAsync(to, y, kBytes, down, other));  // expect copied_into_twice: stream-race
}

void host_dereferences() {
  Buffer<int> x(kCount);
  std::printf("%d\n", x.data[0]);  // expect host_dereferences: host-access
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"no_event", no_event},
                   {"event_before_work", event_before_work},
                   {"wrong_event_order", wrong_event_order},
                   {"written_while_read", written_while_read},
                   {"legacy_and_non_blocking", legacy_and_non_blocking},
                   {"upload_not_waited", upload_not_waited},
                   {"constant_written", constant_written},
                   {"graph_and_stream", graph_and_stream},
                   {"read_before_copy_ends", read_before_copy_ends},
                   {"buffer_reused", buffer_reused},
                   {"copied_into_twice", copied_into_twice},
                   {"wrong_stream_waited", wrong_stream_waited},
                   {"mapped_no_wait", mapped_no_wait},
                   {"managed_no_wait", managed_no_wait},
                   {"host_dereferences", host_dereferences}});
}
