// Memory that is used after it was freed, or freed wrongly.
#include "../planted.h"

__global__ void add(float* x, const float* y, int n) {
  const int i = threadIdx.x;
  if (i < n)
    x[i] += y[i];  // expect async_order: use-after-free
                   // expect replaced: use-after-free
                   // expect pinned: use-after-free
                   // expect managed: use-after-free
                   // expect graph: use-after-free
}
__global__ void gather(float** rows, float* out) {
  out[threadIdx.x] = rows[threadIdx.x][0];  // expect table_entry: use-after-free
}

void async_order() {
  Buffer<float> x(64);
  float* y = nullptr;
  CHECK(cudaMallocAsync(&y, 64 * sizeof(float), 0));
  CHECK(cudaMemsetAsync(y, 0, 64 * sizeof(float), 0));
  CHECK(cudaFreeAsync(y, 0));
  add<<<1, 64>>>(x, y, 64);
  finish();
}

void replaced() {
  float* x = nullptr;
  Buffer<float> y(64);
  CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  float* old = x;
  CHECK(cudaFree(x));
  CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  add<<<1, 64>>>(old, y, 64);
  finish();
  cudaFree(x);
}

void pinned() {
  Buffer<float> x(64);
  float* y = nullptr;
  CHECK(cudaHostAlloc(&y, 64 * sizeof(float), cudaHostAllocMapped));
  std::memset(y, 0, 64 * sizeof(float));
  CHECK(cudaFreeHost(y));
  add<<<1, 64>>>(x, y, 64);
  finish();
}

void managed() {
  Buffer<float> x(64);
  float* y = nullptr;
  CHECK(cudaMallocManaged(&y, 64 * sizeof(float)));
  std::memset(y, 0, 64 * sizeof(float));
  CHECK(cudaFree(y));
  add<<<1, 64>>>(x, y, 64);
  finish();
}

void graph() {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  float* x = nullptr;
  Buffer<float> y(64);
  CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  cudaGraph_t captured;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 64, 0, stream>>>(x, y, 64);
  CHECK(cudaStreamEndCapture(stream, &captured));
  CHECK(cudaGraphInstantiate(&ready, captured, 0));
  CHECK(cudaGraphLaunch(ready, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaFree(x));
  CHECK(cudaGraphLaunch(ready, stream));
  cudaStreamSynchronize(stream);
}

void table_entry() {
  float* rows[32];
  for (float*& row : rows) {
    CHECK(cudaMalloc(&row, 16));
    CHECK(cudaMemset(row, 0, 16));
  }
  Buffer<float*> table(32);
  Buffer<float> out(32);
  CHECK(cudaMemcpy(table, rows, sizeof rows, cudaMemcpyHostToDevice));
  CHECK(cudaFree(rows[20]));
  gather<<<1, 32>>>(table, out);
  finish();
}

void other_stream() {
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  float* x = nullptr;
  CHECK(cudaMallocAsync(&x, 64 * sizeof(float), first));
  CHECK(cudaMemsetAsync(x, 0, 64 * sizeof(float), first));
  cudaEvent_t filled;
  CHECK(cudaEventCreate(&filled));
  CHECK(cudaEventRecord(filled, first));
  CHECK(cudaStreamWaitEvent(second, filled, 0));
  add<<<1, 64, 0, second>>>(x, x, 64);
  CHECK(cudaFreeAsync(x, first));  // expect freed_in_other_stream: stream-race
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaEventDestroy(filled));
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
}

void allocated_elsewhere() {
  cudaStream_t first, second;
  CHECK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  float* x = nullptr;
  CHECK(cudaMallocAsync(&x, 64 * sizeof(float), first));
  CHECK(cudaMemsetAsync(x, 0, 256, second));  // expect allocated_in_other_stream: stream-race
  CHECK(cudaStreamSynchronize(second));
  CHECK(cudaFreeAsync(x, second));
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaStreamDestroy(first));
  CHECK(cudaStreamDestroy(second));
}

void twice() {
  float* x = nullptr;
  CHECK(cudaMalloc(&x, 64));
  CHECK(cudaFree(x));
  cudaFree(x);  // expect twice: invalid-call
}

void twice_async() {
  float* x = nullptr;
  CHECK(cudaMallocAsync(&x, 64, 0));
  CHECK(cudaFreeAsync(x, 0));
  cudaFreeAsync(x, 0);  // expect twice_async: invalid-call
  cudaDeviceSynchronize();
}

void twice_host() {
  void* x = nullptr;
  CHECK(cudaMallocHost(&x, 64));
  CHECK(cudaFreeHost(x));
  cudaFreeHost(x);  // expect twice_host: invalid-call
}

void middle() {
  float* x = nullptr;
  CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  for (int i = 0; i < 4; ++i) CHECK(cudaMemset(x++, 0, 4));
  cudaFree(x);  // expect middle: invalid-call
}

void wrong_function() {
  void* x = nullptr;
  CHECK(cudaMallocHost(&x, 64));
  cudaFree(x);  // expect host_by_cuda_free: invalid-call
  cudaFreeHost(x);
}

void of_the_host() {
  void* x = std::malloc(64);
  cudaFree(x);  // expect malloc_by_cuda_free: invalid-call
  std::free(x);
}

void copied() {
  float* x = nullptr;
  float host[16];
  CHECK(cudaMalloc(&x, sizeof host));
  CHECK(cudaMemset(x, 0, sizeof host));
  CHECK(cudaFree(x));
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);  // expect copied: use-after-free
}

void cleared() {
  float* x = nullptr;
  CHECK(cudaMalloc(&x, 64));
  CHECK(cudaFree(x));
  cudaMemset(x, 0, 64);  // expect cleared: use-after-free
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"async_order", async_order},
                   {"replaced", replaced},
                   {"pinned", pinned},
                   {"managed", managed},
                   {"graph", graph},
                   {"table_entry", table_entry},
                   {"freed_in_other_stream", other_stream},
                   {"allocated_in_other_stream", allocated_elsewhere},
                   {"twice", twice},
                   {"twice_async", twice_async},
                   {"twice_host", twice_host},
                   {"middle", middle},
                   {"host_by_cuda_free", wrong_function},
                   {"malloc_by_cuda_free", of_the_host},
                   {"copied", copied},
                   {"cleared", cleared}});
}
