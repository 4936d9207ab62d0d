#include <gtest/gtest.h>

#include <halfgrad/core/stream.h>

#include "rank_values.h"
#include "ranks.h"

namespace halfgrad::dist {
namespace {

void expect_equal(const Array& on_gpu, const Array& expected) {
  const Array host = on_gpu.to(Device());
  for (std::int64_t i = 0; i < expected.numel(); ++i) {
    ASSERT_TRUE(same_element(host.data_as<float>()[i], expected.data_as<float>()[i])) << i;
  }
}

Array expected_sums(int ranks, std::int64_t n, std::int64_t begin = 0) {
  const Array sums = Array::empty({n}, kFloat32);
  for (std::int64_t i = 0; i < n; ++i) {
    sums.data_as<float>()[i] = expected_of<float>(ReduceOp::sum, ranks, begin + i);
  }
  return sums;
}

class GpuArrays : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  }
};

TEST_P(GpuArrays, AllReduce) {
  on_ranks(2, [](Communicator& communicator) {
    const Array array = values_of<float>(communicator.rank(), GetParam()).to(kCUDA);
    communicator.all_reduce(array).wait();
    expect_equal(array, expected_sums(2, GetParam()));
  });
}

TEST_P(GpuArrays, ReduceScatterAndAllGather) {
  on_ranks(2, [](Communicator& communicator) {
    const std::int64_t n = GetParam();
    const int rank = communicator.rank();
    const Array array = values_of<float>(rank, 2 * n).to(kCUDA);
    const Array part = array.slice(0, rank * n, rank * n + n);
    communicator.reduce_scatter(part, array).wait();
    expect_equal(part, expected_sums(2, n, rank * n));
    communicator.all_gather(array, part).wait();
    expect_equal(array, expected_sums(2, 2 * n));
  });
}

TEST_P(GpuArrays, Broadcast) {
  on_ranks(2, [](Communicator& communicator) {
    const Array array = values_of<float>(communicator.rank(), GetParam()).to(kCUDA);
    communicator.broadcast(array, 1).wait();
    expect_equal(array, values_of<float>(1, GetParam()));
  });
}

// The collective follows what the caller's stream has queued, and precedes what it queues after
// wait().
TEST_P(GpuArrays, CollectivesAreInTheOrderOfTheCallersStream) {
  on_ranks(2, [](Communicator& communicator) {
    const Stream stream(kCUDA);
    const StreamScope scope(stream);
    const Array array = Array::empty({GetParam()}, kFloat32, kCUDA);
    const Array copy = Array::empty({GetParam()}, kFloat32, kCUDA);
    for (int step = 1; step <= 3; ++step) {
      array.fill_(step);
      const Work work = communicator.all_reduce(array);
      work.wait();
      copy.copy_(array);
      array.fill_(-1);
      expect_equal(copy, Array::full({GetParam()}, 2 * step, kFloat32));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, GpuArrays, testing::Values(1, 1000, 5001));

}  // namespace
}  // namespace halfgrad::dist
