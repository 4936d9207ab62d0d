#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <halfgrad/emulator/runtime/streams/stream_state.h>
#include <halfgrad/tests/emulator/streams/fake_runtime.h>
#include <halfgrad/tests/emulator/streams/program.h>

namespace halfgrad::emulator {
namespace {

TEST(StreamOrder, AgreesWithReachabilityOnRandomPrograms) {
  constexpr int kCalls = 300;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    restart(seed % 2 == 1, seed);
    Program program(seed);
    for (int i = 0; i < kCalls; ++i) program.step();
    program.finish();
    const OperationOrder& order = operation_order();
    const std::size_t count = program.names().size();
    ASSERT_GE(count, 150u);
    std::size_t ordered = 0;
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) {
        const OperationId a = operation_of(program.names()[i]);
        const OperationId b = operation_of(program.names()[j]);
        ASSERT_LT(a, b);
        ASSERT_EQ(order.ordered(a, b), program.comes_before(i, j))
            << "seed " << seed << ", operations " << i << " and " << j;
        ASSERT_FALSE(order.ordered(b, a));
        ordered += order.ordered(a, b) ? 1 : 0;
      }
    }
    EXPECT_GT(ordered, 0u);
    EXPECT_LT(ordered, count * (count - 1) / 2);
  }
}

TEST(StreamOrder, EverySeedRunsALegalOrderAndWhatTheHostWaitedFor) {
  constexpr int kCalls = 60;
  std::map<std::vector<std::string>, int> orders;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    restart(true, seed);
    Program program(7);
    for (int i = 0; i < kCalls; ++i) {
      program.step();
      const std::vector<std::string> ran = log();
      for (const std::size_t needed : program.waited_for()) {
        ASSERT_NE(std::find(ran.begin(), ran.end(), program.names()[needed]), ran.end());
      }
      // Seed 0 runs nothing that nobody waits for.
      if (seed == 0) {
        ASSERT_EQ(ran.size(), program.waited_for().size());
      }
    }
    program.finish();
    const std::vector<std::string> ran = log();
    ASSERT_EQ(ran.size(), program.names().size());
    std::map<std::string, std::size_t> place;
    for (std::size_t i = 0; i < ran.size(); ++i) place[ran[i]] = i;
    for (std::size_t i = 0; i < ran.size(); ++i) {
      for (std::size_t j = i + 1; j < ran.size(); ++j) {
        if (!program.comes_before(i, j)) continue;
        ASSERT_LT(place[program.names()[i]], place[program.names()[j]]) << "seed " << seed;
      }
    }
    ++orders[ran];
  }
  EXPECT_GT(orders.size(), 20u) << "seeds must interleave streams differently";
}

TEST(StreamOrder, TheHostComesBeforeWhatItIssuesAndAfterWhatItWaitsFor) {
  restart();
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  const OperationId first = host_operation();
  EXPECT_EQ(host_operation(), first);
  give(stream, "a");
  const OperationId second = host_operation();
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  const OperationId third = host_operation();
  const OperationOrder& order = operation_order();
  const OperationId a = operation_of("a");
  EXPECT_TRUE(order.ordered(first, a));
  EXPECT_FALSE(order.ordered(a, second));
  EXPECT_FALSE(order.ordered(second, a));
  EXPECT_TRUE(order.ordered(a, third));
  EXPECT_TRUE(order.ordered(first, third));
  EXPECT_STREQ(order.describe(a), "a on stream 1");
  EXPECT_STREQ(order.describe(third), "the host");
  cudaStreamDestroy(stream);
}

TEST(StreamOrder, MemoryIsBoundedByTheOperationsBetweenTwoWaits) {
  for (const bool lazy : {false, true}) {
    restart(lazy);
    cudaStream_t streams[2] = {};
    for (cudaStream_t& stream : streams) cudaStreamCreate(&stream);
    give(streams[0], "first");
    std::size_t longest = 0;
    for (int i = 0; i < 100'000; ++i) {
      give(streams[i % 2], "same name");
      if (i % 100 == 99) cudaStreamSynchronize(streams[i / 100 % 2]);
      longest = std::max(longest, stream_state().log.size());
    }
    EXPECT_LE(longest, 5000u);
    wait_for_device(0);
    give(streams[1], "last");
    cudaStreamSynchronize(streams[1]);
    EXPECT_TRUE(operation_order().ordered(operation_of("first"), operation_of("last")));
    for (cudaStream_t stream : streams) cudaStreamDestroy(stream);
  }
}

TEST(StreamOrder, ForgettingChangesNoAnswer) {
  restart(true, 3);
  Program program(11);
  for (int i = 0; i < 12'000; ++i) program.step();
  program.finish();
  const std::size_t count = program.names().size();
  ASSERT_GT(count, 5000u);
  for (std::size_t j = count - 10; j < count; ++j) {
    for (std::size_t i = 0; i < j; i += 97) {
      ASSERT_EQ(operation_order().ordered(operation_of(program.names()[i]),
                                          operation_of(program.names()[j])),
                program.comes_before(i, j));
    }
  }
}

}  // namespace
}  // namespace halfgrad::emulator
