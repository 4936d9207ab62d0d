// Pinned buffers that are written again: by the host behind events, and by copies, kernels and
// graphs of the same stream.
#include "../right.h"

__global__ void add_one(int* x) { x[threadIdx.x] += 1; }

int main() {
  constexpr int kSlots = 2, kCount = 64, kBytes = kCount * sizeof(int);
  Buffer<int> x(kCount);
  cudaStream_t stream;
  EXPECT(cudaStreamCreate(&stream) == cudaSuccess);
  int* slots[kSlots];
  cudaEvent_t copied[kSlots];
  for (int i = 0; i < kSlots; ++i) {
    EXPECT(cudaMallocHost(&slots[i], kBytes) == cudaSuccess);
    EXPECT(cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming) == cudaSuccess);
  }
  for (int step = 0; step < 5; ++step) {
    const int slot = step % kSlots;
    if (step >= kSlots) EXPECT(cudaEventSynchronize(copied[slot]) == cudaSuccess);
    for (int i = 0; i < kCount; ++i) slots[slot][i] = step + i;
    EXPECT(cudaMemcpyAsync(x.data, slots[slot], kBytes, cudaMemcpyHostToDevice, stream) ==
           cudaSuccess);
    EXPECT(cudaEventRecord(copied[slot], stream) == cudaSuccess);
  }
  // The stream writes what it has read.
  int* const ring = slots[0];
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(cudaMemcpyAsync(x.data, ring, kBytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  add_one<<<1, kCount, 0, stream>>>(ring);
  EXPECT(cudaMemcpyAsync(x.data, ring, kBytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  add_one<<<1, kCount, 0, stream>>>(x);
  EXPECT(cudaMemcpyAsync(ring, x.data, kBytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  EXPECT(cudaMemcpyAsync(x.data, ring, kBytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  add_one<<<1, kCount, 0, stream>>>(x);
  EXPECT(cudaMemcpyAsync(ring, x.data, kBytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  EXPECT(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess);
  EXPECT(cudaGraphLaunch(exec, stream) == cudaSuccess);
  const auto fill = [](void* data) { static_cast<int*>(data)[0] = 100; };
  EXPECT(cudaMemcpyAsync(x.data, ring, kBytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  EXPECT(cudaLaunchHostFunc(stream, fill, ring) == cudaSuccess);
  EXPECT(cudaMemcpyAsync(x.data, ring, kBytes, cudaMemcpyHostToDevice, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  settle();
  const auto out = values(x.data, kCount);
  for (int i = 0; i < kCount; ++i) EXPECT(out[i] == (i == 0 ? 100 : 4 + i + 3));
  EXPECT(cudaGraphExecDestroy(exec) == cudaSuccess);
  EXPECT(cudaGraphDestroy(graph) == cudaSuccess);
  for (int i = 0; i < kSlots; ++i) {
    EXPECT(cudaFreeHost(slots[i]) == cudaSuccess);
    EXPECT(cudaEventDestroy(copied[i]) == cudaSuccess);
  }
  EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
}
