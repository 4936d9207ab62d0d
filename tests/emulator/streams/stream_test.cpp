#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <stdexcept>
#include <thread>

#include <halfgrad/emulator/runtime/process.h>
#include <halfgrad/tests/emulator/streams/fake_runtime.h>

namespace halfgrad::emulator {
namespace {

using Names = std::vector<std::string>;

cudaStream_t make_stream(unsigned flags = cudaStreamDefault) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}

TEST(Streams, EagerWorkRunsWhenItIsGiven) {
  restart();
  const cudaStream_t stream = make_stream();
  give(stream, "a");
  EXPECT_EQ(log(), Names({"a"}));
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
}

TEST(Streams, LazyWorkRunsWhenSomethingNeedsIt) {
  restart(true);
  const cudaStream_t first = make_stream(), second = make_stream();
  give(first, "a");
  give(second, "b");
  EXPECT_EQ(log(), Names());
  EXPECT_EQ(cudaStreamSynchronize(second), cudaSuccess);
  EXPECT_EQ(log(), Names({"b"}));
  finish_all_work();
  EXPECT_EQ(log(), Names({"b", "a"}));
}

TEST(Streams, TheLegacyStreamWaitsForBlockingStreamsOnly) {
  restart(true);
  const cudaStream_t blocking = make_stream(), other = make_stream(cudaStreamNonBlocking);
  give(blocking, "blocking");
  give(other, "non-blocking");
  give(nullptr, "legacy");
  give(blocking, "behind legacy");
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamLegacy), cudaSuccess);
  EXPECT_EQ(log(), Names({"blocking", "legacy", "behind legacy"}));
}

TEST(Streams, ACopyBetweenTwoDevicesOrdersTheWorkOfBoth) {
  restart(true, 0, 2);
  const cudaStream_t here = make_stream(cudaStreamNonBlocking);
  select_device(1);
  const cudaStream_t there = make_stream(cudaStreamNonBlocking);
  give(there, "there");
  select_device(0);
  give(here, "here");
  Work copy = logged("copy", WorkKind::copy);
  copy.between = {0, 1};
  EXPECT_EQ(enqueue(nullptr, copy), cudaSuccess);
  give(here, "here again");
  select_device(1);
  give(nullptr, "the other legacy stream");
  finish_all_work();
  const auto before = [](const char* first, const char* second) {
    return operation_order().ordered(operation_of(first), operation_of(second));
  };
  EXPECT_TRUE(before("here", "copy"));
  EXPECT_TRUE(before("there", "copy"));
  EXPECT_TRUE(before("copy", "here again"));
  EXPECT_TRUE(before("copy", "the other legacy stream"));
  EXPECT_FALSE(before("here", "there"));
}

TEST(Streams, APerThreadStreamIsItsThreadsOwn) {
  restart(true);
  give(cudaStreamPerThread, "main");
  unsigned long long mine = 0, theirs = 0;
  cudaStreamGetId(cudaStreamPerThread, &mine);
  std::thread([&] {
    cudaStreamGetId(cudaStreamPerThread, &theirs);
    give(cudaStreamPerThread, "thread");
    cudaStreamSynchronize(cudaStreamPerThread);
  }).join();
  EXPECT_NE(mine, theirs);
  EXPECT_EQ(log(), Names({"thread"}));
}

TEST(Streams, QueriesSayNotReadyAFewTimesAndThenRunTheWork) {
  restart(true);
  const cudaStream_t stream = make_stream();
  give(stream, "a");
  int polls = 0;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) ASSERT_LT(++polls, 100);
  EXPECT_GT(polls, 0);
  EXPECT_EQ(log(), Names({"a"}));
  EXPECT_EQ(last_error(), cudaSuccess);

  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  give(stream, "b");
  cudaEventRecord(event, stream);
  give(stream, "c");
  for (polls = 0; cudaEventQuery(event) == cudaErrorNotReady;) ASSERT_LT(++polls, 100);
  EXPECT_GT(polls, 0);
  EXPECT_EQ(log(), Names({"a", "b"}));
}

TEST(Streams, DestroyedStreamsFinishTheirWork) {
  restart(true);
  const cudaStream_t stream = make_stream();
  give(stream, "a");
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(log(), Names());
  EXPECT_EQ(wait_for_device(0), cudaSuccess);
  EXPECT_EQ(log(), Names({"a"}));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(findings_of(FindingKind::invalid_call), 2u);
}

TEST(Streams, AFlagOrAPriorityIsKept) {
  restart();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, -99), cudaSuccess);
  unsigned flags = 0;
  int priority = 0, lowest = 1, highest = 1, device = -1;
  cudaDeviceGetStreamPriorityRange(&lowest, &highest);
  EXPECT_EQ(cudaStreamGetFlags(stream, &flags), cudaSuccess);
  EXPECT_EQ(cudaStreamGetPriority(stream, &priority), cudaSuccess);
  EXPECT_EQ(cudaStreamGetDevice(stream, &device), cudaSuccess);
  EXPECT_EQ(flags, unsigned{cudaStreamNonBlocking});
  EXPECT_EQ(priority, highest);
  EXPECT_EQ(lowest, 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 64), cudaErrorInvalidValue);
  EXPECT_EQ(last_error(), cudaErrorInvalidValue);
}

TEST(Streams, AKernelNeedsAStreamOfTheCurrentDevice) {
  restart(false, 0, 2);
  const cudaStream_t stream = make_stream();
  select_device(1);
  EXPECT_EQ(give(stream, "kernel"), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(enqueue(stream, logged("copy", WorkKind::copy)), cudaSuccess);
  select_device(0);
  EXPECT_EQ(log(), Names({"copy"}));
}

TEST(Streams, AnAbortedKernelStopsLaterWork) {
  restart(true);
  const cudaStream_t stream = make_stream();
  Work work = logged("broken");
  work.run = [](OperationId) {
    throw KernelAborted(FindingKind::out_of_bounds, "a store out of bounds");
  };
  EXPECT_EQ(enqueue(stream, std::move(work)), cudaSuccess);
  EXPECT_EQ(give(stream, "later"), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorIllegalAddress);
  EXPECT_EQ(give(stream, "too late"), cudaErrorIllegalAddress);
  EXPECT_EQ(log(), Names());
}

TEST(Streams, ManyHostThreadsShareThem) {
  for (const bool lazy : {false, true}) {
    restart(lazy, 5);
    constexpr int kThreads = 4, kWorks = 500;
    const cudaStream_t shared = make_stream();
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const cudaStream_t own =
            make_stream(t % 2 == 0 ? cudaStreamDefault : cudaStreamNonBlocking);
        cudaEvent_t event = nullptr;
        cudaEventCreate(&event);
        for (int i = 0; i < kWorks; ++i) {
          give(i % 3 == 0 ? shared : own, "work");
          cudaEventRecord(event, own);
          cudaStreamWaitEvent(shared, event, 0);
          if (i % 50 == 0) cudaEventSynchronize(event);
          if (i % 70 == 0) cudaStreamSynchronize(shared);
        }
        cudaEventDestroy(event);
        cudaStreamDestroy(own);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wait_for_device(0), cudaSuccess);
    EXPECT_EQ(log().size(), std::size_t{kThreads} * kWorks);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
