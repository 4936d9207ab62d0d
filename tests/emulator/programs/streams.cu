// Streams, events, host functions, captures and graphs. The program waits wherever CUDA demands it,
// so its results are the same in every legal order.
#include <cuda_runtime.h>

#include "expect.h"

constexpr int kCount = 256;

__global__ void fill(int* values, int value) { values[threadIdx.x] = value; }
__global__ void add(int* values, int amount) { values[threadIdx.x] += amount; }
__global__ void sum(int* out, const int* a, const int* b) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

struct Buffers {
  int *a, *b, *out;
  Buffers() {
    EXPECT_SUCCESS(cudaMalloc(&a, kCount * sizeof(int)));
    EXPECT_SUCCESS(cudaMalloc(&b, kCount * sizeof(int)));
    EXPECT_SUCCESS(cudaMalloc(&out, kCount * sizeof(int)));
  }
  ~Buffers() {
    for (int* memory : {a, b, out}) EXPECT_SUCCESS(cudaFree(memory));
  }
  int result() {
    int host[kCount];
    EXPECT_SUCCESS(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int value : host) EXPECT(value == host[0]);
    return host[0];
  }
};

struct Streams {
  cudaStream_t first, second;
  cudaEvent_t fork, join;
  Streams() {
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    EXPECT_SUCCESS(cudaEventCreate(&fork));
    EXPECT_SUCCESS(cudaEventCreate(&join));
  }
  ~Streams() {
    EXPECT_SUCCESS(cudaStreamDestroy(first));
    EXPECT_SUCCESS(cudaStreamDestroy(second));
    EXPECT_SUCCESS(cudaEventDestroy(fork));
    EXPECT_SUCCESS(cudaEventDestroy(join));
  }
};

void fork_and_join(Streams& s, Buffers& m) {
  EXPECT_SUCCESS(cudaEventRecord(s.fork, s.first));
  EXPECT_SUCCESS(cudaStreamWaitEvent(s.second, s.fork, 0));
  fill<<<1, kCount, 0, s.first>>>(m.a, 1);
  fill<<<1, kCount, 0, s.second>>>(m.b, 2);
  add<<<1, kCount, 0, s.second>>>(m.b, 10);
  EXPECT_SUCCESS(cudaEventRecord(s.join, s.second));
  EXPECT_SUCCESS(cudaStreamWaitEvent(s.first, s.join, 0));
  sum<<<1, kCount, 0, s.first>>>(m.out, m.a, m.b);
}

void streams_wait_for_events() {
  Streams s;
  Buffers m;
  fork_and_join(s, m);
  EXPECT_SUCCESS(cudaStreamSynchronize(s.first));
  EXPECT(m.result() == 13);
}

void captured_graphs_run_again() {
  Streams s;
  Buffers m;
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  EXPECT_SUCCESS(cudaStreamBeginCapture(s.first, cudaStreamCaptureModeGlobal));
  fork_and_join(s, m);
  EXPECT_SUCCESS(cudaStreamEndCapture(s.first, &graph));
  EXPECT_SUCCESS(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) {
    EXPECT_SUCCESS(cudaGraphLaunch(exec, s.first));
    add<<<1, kCount, 0, s.first>>>(m.out, i);
    EXPECT_SUCCESS(cudaStreamSynchronize(s.first));
    EXPECT(m.result() == 13 + i);
  }
  EXPECT_SUCCESS(cudaGraphExecDestroy(exec));
  EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

void kernel_nodes_take_new_arguments() {
  Streams s;
  Buffers m;
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t exec;
  int value = 5;
  void* arguments[] = {&m.out, &value};
  cudaKernelNodeParams parameters = {};
  parameters.func = reinterpret_cast<void*>(fill);
  parameters.gridDim = dim3(1);
  parameters.blockDim = dim3(kCount);
  parameters.kernelParams = arguments;
  EXPECT_SUCCESS(cudaGraphCreate(&graph, 0));
  EXPECT_SUCCESS(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
  value = 6;
  EXPECT_SUCCESS(cudaGraphInstantiate(&exec, graph, 0));
  EXPECT_SUCCESS(cudaGraphLaunch(exec, s.first));
  EXPECT_SUCCESS(cudaStreamSynchronize(s.first));
  EXPECT(m.result() == 5);
  cudaKernelNodeParams read = {};
  EXPECT_SUCCESS(cudaGraphKernelNodeGetParams(node, &read));
  EXPECT(read.blockDim.x == kCount && *static_cast<int*>(read.kernelParams[1]) == 5);
  EXPECT_SUCCESS(cudaGraphExecKernelNodeSetParams(exec, node, &parameters));
  EXPECT_SUCCESS(cudaGraphLaunch(exec, s.first));
  EXPECT_SUCCESS(cudaStreamSynchronize(s.first));
  EXPECT(m.result() == 6);
  EXPECT_SUCCESS(cudaGraphExecDestroy(exec));
  EXPECT_SUCCESS(cudaGraphDestroy(graph));
}

void host_functions_see_earlier_work() {
  Buffers m;
  struct Seen {
    int* pinned;
    int value;
  } seen = {};
  EXPECT_SUCCESS(cudaMallocHost(&seen.pinned, sizeof(int)));
  fill<<<1, kCount>>>(m.out, 42);
  EXPECT_SUCCESS(cudaMemcpyAsync(seen.pinned, m.out, sizeof(int), cudaMemcpyDeviceToHost));
  const auto look = [](void* data) {
    Seen& s = *static_cast<Seen*>(data);
    s.value = *s.pinned;
  };
  EXPECT_SUCCESS(cudaLaunchHostFunc(nullptr, look, &seen));
  EXPECT_SUCCESS(cudaDeviceSynchronize());
  EXPECT(seen.value == 42);
  EXPECT_SUCCESS(cudaFreeHost(seen.pinned));
}

int main() {
  streams_wait_for_events();
  captured_graphs_run_again();
  kernel_nodes_take_new_arguments();
  host_functions_see_earlier_work();
}
