// A graph of explicit nodes: a copy, a kernel, a host function, a copy back.
#include "../right.h"

__global__ void triple(int* x) { x[threadIdx.x] *= 3; }

void CUDART_CB count(void* data) { ++*static_cast<int*>(data); }

int main() {
  int in[32], out[32] = {}, calls = 0;
  for (int i = 0; i < 32; ++i) in[i] = i;
  Buffer<int> x(32);
  cudaGraph_t graph;
  cudaGraphNode_t copy_in, kernel, host, copy_out;
  CHECK(cudaGraphCreate(&graph, 0));
  CHECK(cudaGraphAddMemcpyNode1D(&copy_in, graph, nullptr, 0, x.data, in, 128,
                                 cudaMemcpyHostToDevice));
  void* arguments[] = {&x.data};
  cudaKernelNodeParams launch = {};
  launch.func = reinterpret_cast<void*>(triple);
  launch.gridDim = dim3(1), launch.blockDim = dim3(32), launch.kernelParams = arguments;
  CHECK(cudaGraphAddKernelNode(&kernel, graph, &copy_in, 1, &launch));
  cudaHostNodeParams call = {count, &calls};
  CHECK(cudaGraphAddHostNode(&host, graph, &kernel, 1, &call));
  CHECK(cudaGraphAddMemcpyNode1D(&copy_out, graph, &kernel, 1, out, x.data, 128,
                                 cudaMemcpyDeviceToHost));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaGraphLaunch(exec, nullptr));
  CHECK(cudaDeviceSynchronize());
  EXPECT(calls == 2);
  for (int i = 0; i < 32; ++i) EXPECT(out[i] == 3 * i);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(graph));
}
