// Memory, streams, events and graphs that a program makes and never frees.
#include "../planted.h"

__global__ void fill(int* x) { x[threadIdx.x] = 1; }
__global__ void kept_in_heap(int** kept) { kept[threadIdx.x] = new int(3); }

void memory() {
  int* x = nullptr;
  CHECK(cudaMalloc(&x, 128));  // expect memory: leak
  fill<<<1, 32>>>(x);
  CHECK(cudaDeviceSynchronize());
}

void in_loop() {
  int* x = nullptr;
  for (int i = 0; i < 3; ++i) CHECK(cudaMalloc(&x, 128));  // expect in_loop: leak
  CHECK(cudaFree(x));
}

void of_stream() {
  int* x = nullptr;
  CHECK(cudaMallocAsync(&x, 128, 0));  // expect of_stream: leak
  fill<<<1, 32>>>(x);
  CHECK(cudaDeviceSynchronize());
}

void pinned() {
  int* x = nullptr;
  CHECK(cudaMallocHost(&x, 128));  // expect pinned: leak
  x[0] = 1;
}

void managed() {
  int* x = nullptr;
  CHECK(cudaMallocManaged(&x, 128));  // expect managed: leak
  x[0] = 1;
}

void pitched() {
  int* x = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&x, &pitch, 100, 8));  // expect pitched: leak
}

void stream() {
  cudaStream_t made;
  CHECK(cudaStreamCreate(&made));  // expect stream: leak
  CHECK(cudaStreamSynchronize(made));
}

void event() {
  cudaEvent_t made;
  CHECK(cudaEventCreate(&made));  // expect event: leak
  CHECK(cudaEventRecord(made));
  CHECK(cudaEventSynchronize(made));
}

void graph() {
  cudaGraph_t made;
  CHECK(cudaGraphCreate(&made, 0));  // expect graph: leak
}

void executable_graph() {
  cudaGraph_t made;
  cudaGraphExec_t ready;
  CHECK(cudaGraphCreate(&made, 0));
  CHECK(cudaGraphInstantiate(&ready, made, 0));  // expect executable_graph: leak
  CHECK(cudaGraphDestroy(made));
}

void error_path() {
  int *x = nullptr, *y = nullptr;
  CHECK(cudaMalloc(&x, 128));  // expect error_path: leak
  if (cudaMalloc(&y, std::size_t{1} << 50) != cudaSuccess) {
    cudaGetLastError();
    return;
  }
  cudaFree(y);
  cudaFree(x);
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"memory", memory},
                   {"in_loop", in_loop},
                   {"of_stream", of_stream},
                   {"pinned", pinned},
                   {"managed", managed},
                   {"pitched", pitched},
                   {"stream", stream},
                   {"event", event},
                   {"graph", graph},
                   {"executable_graph", executable_graph},
                   {"error_path", error_path}});
}
