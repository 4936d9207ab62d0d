#include <halfgrad/core/graph.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <halfgrad/core/allocator.h>
#include <halfgrad/core/array.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/core/arrays.h>

namespace halfgrad {
namespace {

TEST(GraphOnCpu, ReplayRunsTheFunction) {
  Graph graph(kCPU);
  EXPECT_THROW(graph.replay(), std::logic_error);
  EXPECT_THROW(graph.capture_begin(), std::invalid_argument);
  EXPECT_THROW(graph.capture_end(), std::logic_error);
  int runs = 0;
  graph.capture([&] { ++runs; });
  EXPECT_EQ(runs, 0) << "a capture computes nothing";
  graph.replay();
  graph.replay();
  EXPECT_EQ(runs, 2);
  EXPECT_THROW(graph.capture([] {}), std::logic_error);
}

TEST(GraphOnCpu, BeforeReplaySendsAtOnce) {
  Graph graph(kCPU);
  int value = 0, sent = 0;
  graph.capture([&] { Graph::before_replay([&] { sent = value; }); });
  for (value = 1; value < 3; ++value) {
    graph.replay();
    EXPECT_EQ(sent, value);
  }
}

class GraphOnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  }
};

TEST_F(GraphOnCuda, ReplayRepeatsTheKernelsWithoutWaiting) {
  const Array in = Array::full({1000}, 1, kFloat, kCUDA);
  Array out;
  Graph graph;
  graph.capture([&] { out = in.to(kHalf).to(kDouble); });
  const auto waits = cuda::host_waits();
  graph.replay();
  EXPECT_EQ(cuda::host_waits(), waits);
  EXPECT_EQ(out.select(0, 999).item(), 1);
  in.fill_(2);
  EXPECT_EQ(out.select(0, 999).item(), 1);
  graph.replay();
  EXPECT_EQ(out.select(0, 999).item(), 2);
}

TEST_F(GraphOnCuda, ReadsValuesSentBeforeReplay) {
  const Array sent = Array::full({}, 0, kFloat, kCUDA);
  Array out;
  double value = 1;
  Graph graph;
  graph.capture([&] {
    Graph::before_replay([&] { sent.fill_(value); });
    out = sent.to(kDouble);
  });
  for (value = 2; value < 5; ++value) {
    const auto waits = cuda::host_waits();
    graph.replay();
    EXPECT_EQ(cuda::host_waits(), waits);
    EXPECT_EQ(out.item(), value);
  }
}

TEST_F(GraphOnCuda, OwnsItsMemory) {
  const Array in = Array::full({1000}, 1, kFloat, kCUDA);
  const std::byte* inside = nullptr;
  {
    Graph graph;
    graph.capture([&] { inside = in.to(kHalf).data(); });
    for (int i = 0; i < 4; ++i) {
      EXPECT_NE(Array::empty({1000}, kHalf, kCUDA).data(), inside);
    }
  }
  bool found = false;
  for (int i = 0; i < 4 && !found; ++i) {
    found = Array::empty({1000}, kHalf, kCUDA).data() == inside;
  }
  EXPECT_TRUE(found) << "it comes back when the graph is gone";
}

TEST_F(GraphOnCuda, CapturesOnAStreamOfItsOwn) {
  std::vector<Stream> streams;
  for (int i = 0; i < 32; ++i) streams.emplace_back(kCUDA);  // every stream of the pool
  Graph first, second;
  for (Graph* graph : {&first, &second}) {
    graph->capture([&] { streams.push_back(current_stream(kCUDA)); });
  }
  for (std::size_t i = 32; i < streams.size(); ++i) {
    EXPECT_EQ(std::count(streams.begin(), streams.end(), streams[i]), 1) << i;
  }
}

// Otherwise the blocks of the warm-up would stay cached beside the graph's own memory of the same
// size.
TEST_F(GraphOnCuda, EmptiesTheCacheBeforeCapture) {
  constexpr std::int64_t kBytes = 1 << 20;
  const auto step = [] { Array::empty({kBytes}, kByte, kCUDA); };
  step();
  EXPECT_GE(allocator::stats(kCUDA).cached, kBytes);
  Graph graph;
  std::int64_t cached = -1;
  graph.capture([&] {
    cached = allocator::stats(kCUDA).cached;
    step();
  });
  EXPECT_EQ(cached, 0);
}

TEST_F(GraphOnCuda, IsUnchangedIfTheCaptureFails) {
  const Array x = Array::full({1}, 1, kFloat, kCUDA);
  const Stream side(kCUDA);
  Generator generator, expected;
  int sent = 0;
  const auto work = [&] {
    Graph::before_replay([&] { ++sent; });
    random::uniform(x, 0, 1, generator.take());
  };
  const auto leave_a_stream_behind = [&] {
    work();
    side.wait_stream(current_stream(kCUDA));
    const StreamScope scope(side);
    x.fill_(2);
  };
  Graph graph;
  EXPECT_THROW(graph.capture(leave_a_stream_behind), std::runtime_error);
  graph.capture_begin();
  leave_a_stream_behind();
  EXPECT_THROW(graph.capture_end(), std::runtime_error);
  EXPECT_THROW(graph.replay(), std::logic_error);

  graph.capture(work);
  graph.replay();
  EXPECT_EQ(sent, 1);
  const Array once = Array::empty({1}, kFloat);
  random::uniform(once, 0, 1, expected.take());
  expect_same_bits(x, once);
  EXPECT_EQ(generator.get_state().stream, expected.get_state().stream);
}

TEST_F(GraphOnCuda, WaitingInsideIsAnErrorAndEndsTheCapture) {
  const Array x = Array::full({1}, 1, kFloat, kCUDA);
  Graph graph;
  EXPECT_THROW(graph.capture([&] { x.item(); }), std::runtime_error);
  EXPECT_THROW(graph.replay(), std::logic_error);
  const Array pinned = Array::full({1}, 7, kFloat).pin_memory();
  const Array foreign = Array::from_blob(pinned.data(), {1}, {1}, kFloat, [] {});
  EXPECT_THROW(graph.capture([&] { x.copy_(foreign); }), std::runtime_error);
  EXPECT_THROW(graph.capture([&] { foreign.copy_(x); }), std::runtime_error);
  EXPECT_EQ(x.item(), 1);
  graph.capture([&] { x.fill_(3); });
  graph.replay();
  EXPECT_EQ(x.item(), 3);
}

}  // namespace
}  // namespace halfgrad
