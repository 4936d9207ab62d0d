// A graph captured over two streams, replayed with other input, updated.
#include "../right.h"

__global__ void add(int* x, int value) { x[threadIdx.x] += value; }
__global__ void sum(int* x, const int* y) { x[threadIdx.x] += y[threadIdx.x]; }

cudaGraph_t capture(cudaStream_t s, cudaStream_t side, cudaEvent_t fork, cudaEvent_t join, int* x,
                    int* y, int value) {
  cudaGraph_t graph;
  CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaEventRecord(fork, s));
  CHECK(cudaStreamWaitEvent(side, fork, 0));
  add<<<1, 32, 0, s>>>(x, value);
  CHECK(cudaMemsetAsync(y, 0, 128, side));
  add<<<1, 32, 0, side>>>(y, 2);
  CHECK(cudaEventRecord(join, side));
  CHECK(cudaStreamWaitEvent(s, join, 0));
  sum<<<1, 32, 0, s>>>(x, y);
  CHECK(cudaGetLastError());
  CHECK(cudaStreamEndCapture(s, &graph));
  return graph;
}

int main() {
  Buffer<int> x(32), y(32);
  cudaStream_t s, side;
  cudaEvent_t fork, join;
  CHECK(cudaStreamCreate(&s));
  CHECK(cudaStreamCreate(&side));
  CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
  CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
  cudaGraph_t first = capture(s, side, fork, join, x, y, 1);
  cudaGraph_t second = capture(s, side, fork, join, x, y, 10);
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, first, 0));
  for (int k = 0; k < 3; ++k) CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(values(x.data, 32)[5] == 9);
  cudaGraphExecUpdateResultInfo info;
  CHECK(cudaGraphExecUpdate(exec, second, &info));
  CHECK(cudaGraphLaunch(exec, s));
  CHECK(cudaStreamSynchronize(s));
  EXPECT(values(x.data, 32)[5] == 21);
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphDestroy(first));
  CHECK(cudaGraphDestroy(second));
  CHECK(cudaEventDestroy(fork));
  CHECK(cudaEventDestroy(join));
  CHECK(cudaStreamDestroy(s));
  CHECK(cudaStreamDestroy(side));
}
