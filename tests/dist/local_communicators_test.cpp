#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "collective_checks.h"
#include "ranks.h"

namespace halfgrad::dist {
namespace {

using namespace std::chrono_literals;

class LocalCommunicators : public testing::TestWithParam<int> {};

TEST_P(LocalCommunicators, AllReduce) { on_ranks(GetParam(), check_all_reduce); }
TEST_P(LocalCommunicators, ReduceScatter) { on_ranks(GetParam(), check_reduce_scatter); }
TEST_P(LocalCommunicators, AllGather) { on_ranks(GetParam(), check_all_gather); }
TEST_P(LocalCommunicators, Broadcast) { on_ranks(GetParam(), check_broadcast); }
TEST_P(LocalCommunicators, BitsDoNotDependOnTheCutIntoCalls) { on_ranks(GetParam(), check_cuts); }
TEST_P(LocalCommunicators, CollectivesRunInTheOrderOfCalls) { on_ranks(GetParam(), check_order); }

INSTANTIATE_TEST_SUITE_P(Sizes, LocalCommunicators, testing::Values(1, 2, 3, 4, 7));

TEST(LocalCommunicatorsTest, OneRankChangesNoBits) {
  const auto communicator = make_local_communicators(1)[0];
  const Array array = Array::full({2}, 1, kFloat16);
  array.data_as<Half>()[0] = Half::from_bits(0x7d01);  // a signalling NaN, which a sum would change
  communicator->all_reduce(array, ReduceOp::average).wait();
  EXPECT_EQ(array.data_as<Half>()[0].bits, 0x7d01);
}

TEST(LocalCommunicatorsTest, LargeArraysAreReducedInPieces) {
  on_ranks(2, [](Communicator& communicator) {
    constexpr std::int64_t kCount = (20 << 20) / 4 + 3;  // above one piece of 16 MiB
    const Array array = Array::full({kCount}, communicator.rank() + 1, kFloat32);
    const Array input = Array::full({2 * kCount}, communicator.rank() + 1, kFloat32);
    const Array output = Array::empty({kCount}, kFloat32);
    const Work first = communicator.all_reduce(array);
    communicator.reduce_scatter(output, input).wait();
    first.wait();
    for (std::int64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(array.data_as<float>()[i], 3) << "element " << i;
      ASSERT_EQ(output.data_as<float>()[i], 3) << "element " << i;
    }
  });
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
