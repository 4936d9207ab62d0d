#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <tuple>

#include <gtest/gtest.h>

#include "collective_checks.h"
#include "ranks.h"

namespace halfgrad::dist {
namespace {

using namespace std::chrono_literals;

using Check = void (*)(Communicator&);

// The ranks, and whether they read each other's arrays.
class LocalCommunicators : public testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  static void on_all_ranks(Check check) {
    const auto [ranks, shared_memory] = GetParam();
    on_ranks(make_local_communicators(ranks, 60s, shared_memory), check);
  }
};

TEST_P(LocalCommunicators, AllReduce) { on_all_ranks(check_all_reduce); }
TEST_P(LocalCommunicators, ReduceScatter) { on_all_ranks(check_reduce_scatter); }
TEST_P(LocalCommunicators, AllGather) { on_all_ranks(check_all_gather); }
TEST_P(LocalCommunicators, Broadcast) { on_all_ranks(check_broadcast); }
TEST_P(LocalCommunicators, BitsDoNotDependOnTheCutIntoCalls) { on_all_ranks(check_cuts); }
TEST_P(LocalCommunicators, CollectivesRunInTheOrderOfCalls) { on_all_ranks(check_order); }
TEST_P(LocalCommunicators, ArraysInOwnMemory) { on_all_ranks(check_own_memory); }

INSTANTIATE_TEST_SUITE_P(Sizes, LocalCommunicators,
                         testing::Combine(testing::Values(1, 2, 3, 4, 7), testing::Bool()),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "_shared" : "_messages");
                         });

TEST(LocalCommunicatorsTest, OneRankChangesNoBits) {
  const auto communicator = make_local_communicators(1)[0];
  const Array array = Array::full({2}, 1, kFloat16);
  array.data_as<Half>()[0] = Half::from_bits(0x7d01);  // a signalling NaN, which a sum would change
  communicator->all_reduce(array, ReduceOp::average).wait();
  EXPECT_EQ(array.data_as<Half>()[0].bits, 0x7d01);
}

TEST(LocalCommunicatorsTest, LargeArraysAreReducedInPieces) {
  for (const bool shared_memory : {false, true}) {
    on_ranks(make_local_communicators(2, 60s, shared_memory), check_pieces);
  }
}

TEST(LocalCommunicatorsTest, BarrierWaitsForEveryRank) {
  std::atomic<int> arrived = 0;
  on_ranks(4, [&](Communicator& communicator) {
    std::this_thread::sleep_for(communicator.rank() * 5ms);
    ++arrived;
    communicator.barrier();
    EXPECT_EQ(arrived, 4);
  });
}

TEST(LocalCommunicatorsTest, RefusesBadArguments) {
  EXPECT_THROW(static_cast<void>(make_local_communicators(0)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(make_local_communicators(2, 0ms)), std::invalid_argument);
  for (const int size : {1, 2}) {
    const auto communicators = make_local_communicators(size);
    Communicator& c = *communicators[0];
    const Array array = Array::full({4, 4}, 1, kFloat32), ints = Array::full({4}, 1, kInt32);
    const Array part = Array::full({16 / size}, 1, kFloat32);
    EXPECT_THROW(static_cast<void>(c.all_reduce(Array())), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.all_reduce(array.transpose(0, 1))), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.all_reduce(ints, ReduceOp::average)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.reduce_scatter(ints, array)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.reduce_scatter(part.slice(0, 0, 3), array)),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.all_gather(array, part.slice(0, 1, 5))),
                 std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.broadcast(array, size)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.broadcast(array, -1)), std::invalid_argument);
    if (size == 1) continue;
    const Array second_part = array.reshape({16}).slice(0, 8, 16);
    EXPECT_THROW(static_cast<void>(c.all_gather(array, second_part)), std::invalid_argument);
    EXPECT_THROW(static_cast<void>(c.reduce_scatter(second_part, array)), std::invalid_argument);
  }
}

}  // namespace
}  // namespace halfgrad::dist
