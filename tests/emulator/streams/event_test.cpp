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

TEST(Events, ElapsedTimeGrowsAndNeedsTiming) {
  restart();
  cudaEvent_t start = nullptr, end = nullptr, untimed = nullptr;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  cudaEventRecord(start);
  Work work = logged("sleep");
  work.run = [](OperationId) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  enqueue(nullptr, std::move(work));
  cudaEventRecord(end);
  cudaEventRecord(untimed);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 5.0f);
  EXPECT_LT(milliseconds, 5000.0f);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
}

TEST(Events, ElapsedTimeIsNotReadyBeforeTheEventsAre) {
  restart(true);
  cudaEvent_t start = nullptr, end = nullptr;
  cudaEventCreate(&start);
  cudaEventCreate(&end);
  cudaEventRecord(start);
  cudaEventRecord(end);
  float milliseconds = -1;
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  EXPECT_EQ(cudaEventSynchronize(end), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, start, end), cudaSuccess);
  EXPECT_GT(milliseconds, 0.0f);
}

TEST(Events, AnEventThatWasNeverRecordedHoldsNothingUp) {
  restart(true);
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  EXPECT_EQ(cudaStreamWaitEvent(make_stream(), event, 0), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, nullptr), cudaErrorInvalidResourceHandle);
}

TEST(Events, AWaitMeansTheRecordThatWasTheNewestThen) {
  restart(true);
  const cudaStream_t first = make_stream(), second = make_stream();
  cudaEvent_t event = nullptr;
  cudaEventCreate(&event);
  give(first, "a");
  cudaEventRecord(event, first);
  cudaStreamWaitEvent(second, event, 0);
  give(first, "b");
  cudaEventRecord(event, first);
  give(second, "c");
  cudaStreamSynchronize(second);
  EXPECT_EQ(log(), Names({"a", "c"}));
}

TEST(HostFunctions, RunInOrderAndMayNotCallTheRuntime) {
  restart(true);
  static cudaError_t inside;
  inside = cudaSuccess;
  const cudaStream_t stream = make_stream();
  give(stream, "a");
  cudaLaunchHostFunc(
      stream, [](void*) { inside = cudaStreamSynchronize(nullptr); }, nullptr);
  cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t error, void*) { EXPECT_EQ(error, cudaSuccess); },
      nullptr, 0);
  give(stream, "b");
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(log(), Names({"a", "host function", "b"}));
  EXPECT_EQ(inside, cudaErrorNotPermitted);
}

TEST(HostFunctions, AHostThatLooksAtMemoryOnlySeesThemRun) {
  restart(true);
  std::atomic<bool> done{false};
  give(nullptr, "a");
  cudaLaunchHostFunc(
      nullptr, [](void* flag) { *static_cast<std::atomic<bool>*>(flag) = true; }, &done);
  while (!done) std::this_thread::yield();
  EXPECT_EQ(log(), Names({"a", "host function"}));
  // The host saw the flag that the function set, so the work before the function is ordered too.
  EXPECT_TRUE(operation_order().ordered(operation_of("a"), host_operation()));
}

TEST(HostFunctions, OtherStreamsRunWhileOneWaitsForAnotherThread) {
  restart();
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool open = false;
  } gate;
  const cudaStream_t waiting = make_stream(cudaStreamNonBlocking);
  const cudaStream_t other = make_stream(cudaStreamNonBlocking);
  std::thread giver([&] {
    cudaLaunchHostFunc(
        waiting,
        [](void* data) {
          Gate& g = *static_cast<Gate*>(data);
          std::unique_lock lock(g.mutex);
          g.opened.wait(lock, [&] { return g.open; });
        },
        &gate);
    give(waiting, "after the gate");
  });
  while (log().empty()) std::this_thread::yield();
  give(other, "beside");
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(log(), Names({"host function", "beside"}));
  {
    const std::lock_guard lock(gate.mutex);
    gate.open = true;
  }
  gate.opened.notify_all();
  giver.join();
  EXPECT_EQ(wait_for_device(0), cudaSuccess);
  EXPECT_EQ(log().back(), "after the gate");
}

}  // namespace
}  // namespace halfgrad::emulator
