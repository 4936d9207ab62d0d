#include <halfgrad/core/stream.h>

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include <halfgrad/core/array.h>
#include <halfgrad/core/cuda/kernels/indices.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(StreamOnCpu, CompletesAllWorkAtOnce) {
  const auto waits = cuda::host_waits();
  const Stream stream(kCPU);
  EXPECT_EQ(stream, current_stream(kCPU));
  EXPECT_EQ(stream.native(), nullptr);
  Event event;
  EXPECT_TRUE(event.query()) << "never recorded";
  const StreamScope scope(stream);
  event.record(stream);
  event.wait(stream);
  stream.wait_event(event);
  stream.wait_stream(default_stream(kCPU));
  stream.synchronize();
  event.synchronize();
  cuda::synchronize(kCPU);
  EXPECT_TRUE(event.query());
  EXPECT_EQ(cuda::host_waits(), waits) << "the CPU is not waited for";
}

TEST(StreamOnCpu, EventsMeasureTime) {
  Event start(true), end(true), untimed;
  EXPECT_THROW(start.elapsed_time(end), std::logic_error);
  start.record(current_stream(kCPU));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  end.record(current_stream(kCPU));
  untimed.record(current_stream(kCPU));
  EXPECT_GE(start.elapsed_time(end), 5);
  EXPECT_THROW(start.elapsed_time(untimed), std::logic_error);
  const Event moved = std::move(end);
  EXPECT_GE(start.elapsed_time(moved), 5);
}

class StreamOnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  }
};

TEST_F(StreamOnCuda, ScopesNestAndBelongToOneThread) {
  const Stream stream(kCUDA), other(kCUDA);
  EXPECT_NE(stream, other);
  EXPECT_EQ(current_stream(kCUDA), default_stream(kCUDA));
  {
    const StreamScope outer(stream);
    {
      const StreamScope inner(other);
      EXPECT_EQ(current_stream(kCUDA), other);
    }
    EXPECT_EQ(current_stream(kCUDA), stream);
    std::thread([] { EXPECT_EQ(current_stream(kCUDA), default_stream(kCUDA)); }).join();
  }
  EXPECT_EQ(current_stream(kCUDA), default_stream(kCUDA));
}

TEST_F(StreamOnCuda, OneStreamWaitsForAnother) {
  const Stream stream(kCUDA);
  const Array x = Array::empty({1 << 22}, kFloat, kCUDA);
  {
    const StreamScope scope(stream);
    for (int i = 0; i < 30; ++i) x.fill_(i);
  }
  x.record_stream(stream);
  const auto before = cuda::host_waits();
  current_stream(kCUDA).wait_stream(stream);
  const Array copy = x.clone();
  EXPECT_EQ(cuda::host_waits(), before);
  EXPECT_EQ(copy.select(0, -1).item(), 29);
  EXPECT_EQ(cuda::host_waits(), before + 1);
}

TEST_F(StreamOnCuda, EveryWaitReportsABadIndex) {
  const Device device(kCUDA);
  const Stream stream = current_stream(device);
  Event event;
  const std::function<void()> waits[] = {[&] { event.synchronize(); },
                                         [&] { stream.synchronize(); },
                                         [&] { cuda::synchronize(device); }};
  for (const auto& wait : waits) {
    detail::checked_indices_on_cuda("gather", Array::full({1}, 7, kLong, device), 3);
    event.record(stream);
    EXPECT_EQ(message_of<std::out_of_range>(wait),
              "gather: expected indices >= 0 and below the size 3, got 7 on " + device.str() +
                  ", reported when the host next waited for it");
    EXPECT_NO_THROW(wait()) << "once";
  }
}

TEST_F(StreamOnCuda, EventsCompleteAndMeasureTime) {
  Event start(true), end(true);
  const Array x = Array::empty({1 << 24}, kFloat, kCUDA);
  start.record(current_stream(kCUDA));
  x.fill_(1);
  end.record(current_stream(kCUDA));
  end.synchronize();
  EXPECT_TRUE(start.query());
  EXPECT_GT(start.elapsed_time(end), 0);
}

}  // namespace
}  // namespace halfgrad
