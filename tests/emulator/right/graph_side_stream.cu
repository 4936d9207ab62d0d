// A capture of allocations on two streams, the second of which is destroyed before the capture
// ends; and an object that the graph keeps alive.
#include "../right.h"

__global__ void fill(int* x) { x[threadIdx.x] = threadIdx.x; }
__global__ void negate(const int* x, int* y) { y[threadIdx.x] = -x[threadIdx.x]; }

void CUDART_CB destroy(void* calls) { ++*static_cast<int*>(calls); }

int main() {
  Buffer<int> y(64);
  settle();  // non-blocking streams do not wait for the default stream
  cudaStream_t stream, side;
  cudaEvent_t filled, done;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  CHECK(cudaEventCreate(&filled));
  CHECK(cudaEventCreate(&done));
  int* x;
  CHECK(cudaMallocAsync(&x, 64 * sizeof(int), stream));
  fill<<<1, 64, 0, stream>>>(x);
  CHECK(cudaEventRecord(filled, stream));
  CHECK(cudaStreamWaitEvent(side, filled, 0));
  negate<<<1, 64, 0, side>>>(x, y.data);
  CHECK(cudaFreeAsync(x, side));
  CHECK(cudaEventRecord(done, side));
  CHECK(cudaStreamWaitEvent(stream, done, 0));
  CHECK(cudaStreamDestroy(side));
  CHECK(cudaEventDestroy(filled));
  CHECK(cudaEventDestroy(done));
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));

  int calls = 0;
  cudaUserObject_t object;
  CHECK(cudaUserObjectCreate(&object, &calls, destroy, 2, cudaUserObjectNoDestructorSync));
  CHECK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
  CHECK(cudaUserObjectRelease(object, 1));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  EXPECT(values(y.data, 64)[63] == -63);
  EXPECT(calls == 0);
  CHECK(cudaGraphExecDestroy(exec));
  EXPECT(calls == 1);
  CHECK(cudaStreamDestroy(stream));

  unsigned long long used = 1;
  CHECK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
  EXPECT(used == 0);
  CHECK(cudaDeviceGraphMemTrim(0));
}
