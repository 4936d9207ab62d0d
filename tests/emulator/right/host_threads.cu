// Two host threads share pinned memory: one launches kernels that fill it, the other's kernels read
// it behind an event. Each thread returns from its calls while the other's kernels run.
#include <condition_variable>
#include <mutex>
#include <thread>

#include "../right.h"

constexpr int kCount = 2048, kBytes = kCount * sizeof(int), kRounds = 100;

__global__ void fill(int* x, int value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = value + i;
}

__global__ void add_one(int* y, const int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] + 1;
}

// The round whose work is in the stream of the writer, and the one that the reader has ended.
struct Rounds {
  std::mutex mutex;
  std::condition_variable changed;
  int given = 0, ended = 0;
  cudaEvent_t filled;

  void set(int Rounds::*member, int value) {
    const std::lock_guard<std::mutex> lock(mutex);
    this->*member = value;
    changed.notify_all();
  }
  void wait(int Rounds::*member, int value) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return this->*member >= value; });
  }
};

int* pinned() {
  int* x;
  CHECK(cudaMallocHost(&x, kBytes));
  return x;
}

void write_rounds(Rounds* rounds, int* shared) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* own = pinned();
  for (int round = 1; round <= kRounds; ++round) {
    rounds->wait(&Rounds::ended, round - 1);
    fill<<<kCount / 256, 256, 0, stream>>>(shared, round, kCount);
    CHECK(cudaEventRecord(rounds->filled, stream));
    rounds->set(&Rounds::given, round);
    for (int i = 0; i < 3; ++i) fill<<<kCount / 256, 256, 0, stream>>>(own, i, kCount);
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(own[5] == 7);
  }
  CHECK(cudaFreeHost(own));
  CHECK(cudaStreamDestroy(stream));
}

void read_rounds(Rounds* rounds, int* shared) {
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  int* own = pinned();
  for (int round = 1; round <= kRounds; ++round) {
    rounds->wait(&Rounds::given, round);
    CHECK(cudaStreamWaitEvent(stream, rounds->filled, 0));
    for (int i = 0; i < 3; ++i) add_one<<<kCount / 256, 256, 0, stream>>>(own, shared, kCount);
    CHECK(cudaStreamSynchronize(stream));
    EXPECT(own[5] == round + 6 && shared[5] == round + 5);
    rounds->set(&Rounds::ended, round);
  }
  CHECK(cudaFreeHost(own));
  CHECK(cudaStreamDestroy(stream));
}

int main() {
  Rounds rounds;
  CHECK(cudaEventCreateWithFlags(&rounds.filled, cudaEventDisableTiming));
  int* shared = pinned();
  std::thread writer(write_rounds, &rounds, shared), reader(read_rounds, &rounds, shared);
  writer.join();
  reader.join();
  CHECK(cudaFreeHost(shared));
  CHECK(cudaEventDestroy(rounds.filled));
  settle();
}
