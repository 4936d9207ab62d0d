// The host uses memory that it shares with the GPU: behind waits and queries, beside work on other
// memory, by a flag that a kernel sets, in callbacks, and in another thread.
#include <atomic>
#include <thread>

#include "../right.h"

constexpr int kCount = 1024, kBytes = kCount * sizeof(int);

__global__ void fill(int* x, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value + i;
}

__global__ void fill_and_tell(int* x, volatile int* flag) {
  x[threadIdx.x] = threadIdx.x;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

void by_queries(int* x, cudaStream_t stream) {
  fill<<<4, 256, 0, stream>>>(x, 3, kCount);
  while (cudaStreamQuery(stream) == cudaErrorNotReady) {
  }
  EXPECT(x[1] == 4);
  cudaEvent_t event;
  CHECK(cudaEventCreate(&event));
  fill<<<4, 256, 0, stream>>>(x, 5, kCount);
  CHECK(cudaEventRecord(event, stream));
  while (cudaEventQuery(event) == cudaErrorNotReady) {
  }
  x[1] += x[0];
  EXPECT(x[1] == 11);
  CHECK(cudaEventDestroy(event));
}

// The host fills a half while the copy of the other one may be under way.
void in_turn(int* x, cudaStream_t stream) {
  Buffer<int> y(kCount);
  cudaEvent_t copied[2];
  for (cudaEvent_t& event : copied) CHECK(cudaEventCreate(&event));
  CHECK(cudaDeviceSynchronize());
  const int half = kCount / 2;
  for (int step = 0; step < 6; ++step) {
    const int slot = step % 2;
    if (step > 1) CHECK(cudaEventSynchronize(copied[slot]));
    for (int i = 0; i < half; ++i) x[slot * half + i] = step;
    CHECK(cudaMemcpyAsync(y + slot * half, x + slot * half, kBytes / 2, cudaMemcpyHostToDevice,
                          stream));
    CHECK(cudaEventRecord(copied[slot], stream));
  }
  CHECK(cudaStreamSynchronize(stream));
  for (cudaEvent_t& event : copied) CHECK(cudaEventDestroy(event));
  EXPECT(values<int>(y, kCount)[half] == 5);
}

// The data are there when the flag is: the host need not wait for the kernel.
void by_flag(int* x) {
  int* flag;
  CHECK(cudaMallocHost(&flag, sizeof(int)));
  *flag = 0;
  fill_and_tell<<<1, 256>>>(x, flag);
  while (*static_cast<volatile int*>(flag) == 0) {
  }
  EXPECT(x[255] == 255);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFreeHost(flag));
}

void by_callback(int* x) {
  fill<<<4, 256>>>(x, 0, kCount);
  CHECK(cudaLaunchHostFunc(
      0, [](void* data) { static_cast<int*>(data)[0] += 7; }, x));
  CHECK(cudaDeviceSynchronize());
  EXPECT(x[0] == 7);
}

// A plain memset of such memory returns when it is done.
void by_memset(int* x) {
  CHECK(cudaMemset(x, 0, kBytes));
  EXPECT(x[3] == 0);
  x[3] = 1;
}

// Neighbours in one page: the system, too, may read what no work touches.
void beside() {
  int *x, *y;
  CHECK(cudaMallocManaged(&x, sizeof(int)));
  CHECK(cudaMallocManaged(&y, sizeof(int)));
  fill<<<1, 1>>>(x, 5, 1);
  *y = 3;
  std::FILE* const file = std::fopen("/dev/null", "w");
  std::setvbuf(file, nullptr, _IONBF, 0);
  EXPECT(std::fwrite(y, sizeof(int), 1, file) == 1);
  std::fclose(file);
  CHECK(cudaDeviceSynchronize());
  EXPECT(*x == 5 && *y == 3);
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}

void in_another_thread(int* x, int* y) {
  std::atomic<bool> stop{false};
  std::thread other([&] {
    while (!stop) {
      for (int i = 0; i < kCount; ++i) ++y[i];
    }
  });
  for (int step = 0; step < 20; ++step) {
    fill<<<4, 256>>>(x, step, kCount);
    CHECK(cudaDeviceSynchronize());
    EXPECT(x[5] == step + 5);
  }
  stop = true;
  other.join();
}

int main() {
  int *pinned, *managed;
  CHECK(cudaMallocHost(&pinned, kBytes));
  CHECK(cudaMallocManaged(&managed, kBytes));
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (int* const memory : {pinned, managed}) by_queries(memory, stream);
  for (int* const memory : {pinned, managed}) by_memset(memory);
  in_turn(pinned, stream);
  by_flag(pinned);
  by_callback(managed);
  beside();
  in_another_thread(managed, pinned);
  settle();
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFreeHost(pinned));
  CHECK(cudaFree(managed));
}
