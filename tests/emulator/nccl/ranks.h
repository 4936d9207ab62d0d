#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>
#include <vector>

/// Ends the program if a call of CUDA or NCCL fails.
#define MUST(call)                                                                         \
  do {                                                                                     \
    if (const int failure = static_cast<int>(call); failure != 0) {                        \
      std::fprintf(stderr, "%s:%d: %s returned %d\n", __FILE__, __LINE__, #call, failure); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

/// One rank: a device, a stream and a communicator.
struct Rank {
  int index = 0;
  cudaStream_t stream = nullptr;
  ncclComm_t comm = nullptr;

  /// An array in the device's memory, freed with the rank.
  template <class T>
  T* array(const std::vector<T>& values) {
    MUST(cudaSetDevice(index));
    T* data = nullptr;
    MUST(cudaMalloc(&data, values.size() * sizeof(T)));
    MUST(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    arrays.push_back(data);
    return data;
  }
  template <class T>
  std::vector<T> values(const T* data, std::size_t count) {
    MUST(cudaSetDevice(index));
    MUST(cudaStreamSynchronize(stream));
    std::vector<T> result(count);
    MUST(cudaMemcpy(result.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    return result;
  }

  std::vector<void*> arrays;
};

/// The ranks of one thread, on devices 0 to size - 1.
class Ranks {
 public:
  explicit Ranks(int size) : ranks_(static_cast<std::size_t>(size)) {
    std::vector<ncclComm_t> comms(ranks_.size());
    MUST(ncclCommInitAll(comms.data(), size, nullptr));
    for (int r = 0; r < size; ++r) {
      Rank& rank = (*this)[r];
      rank.index = r;
      rank.comm = comms[static_cast<std::size_t>(r)];
      MUST(cudaSetDevice(r));
      MUST(cudaStreamCreateWithFlags(&rank.stream, cudaStreamNonBlocking));
    }
  }
  ~Ranks() {
    for (Rank& rank : ranks_) {
      if (rank.comm != nullptr) ncclCommDestroy(rank.comm);
      cudaSetDevice(rank.index);
      cudaStreamDestroy(rank.stream);
      for (void* array : rank.arrays) cudaFree(array);
    }
    cudaSetDevice(0);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  Rank& operator[](int index) { return ranks_[static_cast<std::size_t>(index)]; }
  int size() const { return static_cast<int>(ranks_.size()); }

  /// Calls f(rank) for each rank in one group.
  void group(const std::function<void(Rank&)>& f) {
    MUST(ncclGroupStart());
    for (Rank& rank : ranks_) f(rank);
    MUST(ncclGroupEnd());
  }
  /// Calls f(rank) in a thread for each rank.
  void threads(const std::function<void(Rank&)>& f) {
    std::vector<std::thread> threads;
    for (Rank& rank : ranks_) {
      threads.emplace_back([&] {
        MUST(cudaSetDevice(rank.index));
        f(rank);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  std::vector<Rank> ranks_;
};
