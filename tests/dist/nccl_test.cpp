// Ranks on GPUs, one a thread. Two and three ranks need as many GPUs, which the emulator has:
// tools/emulate-tests.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/core/graph.h>
#include <halfgrad/dist/init_process_group.h>
#include <halfgrad/dist/nccl_communicators.h>

#include "collective_checks.h"
#include "rank_values.h"
#include "ranks.h"

namespace halfgrad::dist {
namespace {

using namespace std::chrono_literals;

Device gpu(int index) { return {kCUDA, index}; }

void skip_without_gpus(int count) {
  if (!why_nccl_is_unavailable().empty()) GTEST_SKIP() << why_nccl_is_unavailable();
  if (cuda::device_count() < count) {
    GTEST_SKIP() << "needs " << count << " GPUs, this machine has " << cuda::device_count();
  }
}

Communicators on_gpus(int size, std::chrono::milliseconds timeout = 60s) {
  std::vector<Device> devices;
  for (int i = 0; i < size; ++i) devices.push_back(gpu(i));
  return make_nccl_communicators(devices, timeout);
}

/// Arrays of the host as arguments: copies them to the rank's GPU and the result back in wait().
class ThroughGpu final : public Communicator {
 public:
  explicit ThroughGpu(Communicator& inner) : inner_(inner), device_(gpu(inner.rank())) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string name_of(int rank) const override { return inner_.name_of(rank); }

  Work all_reduce(const Array& array, ReduceOp op) override {
    const Array on_gpu = array.to(device_);
    return work(inner_.all_reduce(on_gpu, op), on_gpu, array);
  }
  Work reduce_scatter(const Array& output, const Array& input, ReduceOp op) override {
    const Array all = input.to(device_);
    const Array part = counterpart(output, input, all);
    return work(inner_.reduce_scatter(part, all, op), part, output);
  }
  Work all_gather(const Array& output, const Array& input) override {
    const Array all = output.to(device_);
    return work(inner_.all_gather(all, counterpart(input, output, all)), all, output);
  }
  Work broadcast(const Array& array, int root) override {
    const Array on_gpu = array.to(device_);
    return work(inner_.broadcast(on_gpu, root), on_gpu, array);
  }
  void barrier() override { inner_.barrier(); }

 private:
  class CopyBack final : public Work::State {
   public:
    CopyBack(Work inner, Array from, Array to)
        : inner_(std::move(inner)), from_(std::move(from)), to_(std::move(to)) {}
    void wait() override {
      inner_.wait();
      to_.copy_(from_);
      current_stream(from_.device()).synchronize();
    }
    bool is_completed() override { return inner_.is_completed(); }

   private:
    const Work inner_;
    const Array from_, to_;
  };

  static Work work(Work inner, const Array& from, const Array& to) {
    return Work(std::make_shared<CopyBack>(std::move(inner), from, to));
  }
  // The place on the GPU of `part`, which may be a part of `whole`, as `on_gpu` is of `whole`.
  Array counterpart(const Array& part, const Array& whole, const Array& on_gpu) const {
    const auto offset =
        (static_cast<std::byte*>(part.data()) - static_cast<std::byte*>(whole.data())) /
        item_size(part.dtype());
    const bool inside = part.numel() > 0 && offset >= 0 && offset < whole.numel();
    return inside ? on_gpu.reshape({-1}).slice(0, offset, offset + part.numel()) : part.to(device_);
  }

  Communicator& inner_;
  const Device device_;
};

class NcclOnCuda : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { skip_without_gpus(GetParam()); }
  static void check(void (*checked)(Communicator&)) {
    on_ranks(on_gpus(GetParam()), [&](Communicator& communicator) {
      ThroughGpu through(communicator);
      checked(through);
    });
  }
};

TEST_P(NcclOnCuda, AllReduce) { check(check_all_reduce); }
TEST_P(NcclOnCuda, ReduceScatter) { check(check_reduce_scatter); }
TEST_P(NcclOnCuda, AllGather) { check(check_all_gather); }
TEST_P(NcclOnCuda, Broadcast) { check(check_broadcast); }
TEST_P(NcclOnCuda, BitsDoNotDependOnTheCutIntoCalls) { check(check_cuts); }
TEST_P(NcclOnCuda, CollectivesRunInTheOrderOfCalls) { check(check_order); }

TEST_P(NcclOnCuda, BitsAreThoseOfTheHost) {
  constexpr std::int64_t kCount = 20011;
  std::vector<Array> expected, results(static_cast<std::size_t>(GetParam()));
  for (int r = 0; r < GetParam(); ++r) expected.push_back(values_of<BFloat16>(r, kCount));
  on_ranks(GetParam(), [&](Communicator& communicator) {
    communicator.all_reduce(expected[static_cast<std::size_t>(communicator.rank())]).wait();
  });
  on_ranks(on_gpus(GetParam()), [&](Communicator& communicator) {
    const Array array =
        values_of<BFloat16>(communicator.rank(), kCount).to(gpu(communicator.rank()));
    communicator.all_reduce(array).wait();
    results[static_cast<std::size_t>(communicator.rank())] = array.to(kCPU);
  });
  for (int r = 0; r < GetParam(); ++r) {
    const auto *a = results[static_cast<std::size_t>(r)].data_as<BFloat16>(),
               *b = expected[0].data_as<BFloat16>();
    for (std::int64_t i = 0; i < kCount; ++i) {
      ASSERT_TRUE(same_element(a[i], b[i])) << "rank " << r << ", element " << i;
    }
  }
}

TEST_P(NcclOnCuda, TheHostDoesNotWait) {
  std::barrier together(GetParam());  // the count is of all ranks
  on_ranks(on_gpus(GetParam()), [&](Communicator& communicator) {
    const Array array = Array::full({50000}, 1, kFloat32, gpu(communicator.rank()));
    communicator.all_reduce(array).wait();
    together.arrive_and_wait();
    const std::int64_t before = cuda::host_waits();
    for (int i = 0; i < 3; ++i) communicator.all_reduce(array, ReduceOp::average).wait();
    EXPECT_EQ(cuda::host_waits(), before);
    together.arrive_and_wait();
    EXPECT_EQ(array.to(kCPU).data_as<float>()[49999], communicator.size());
    communicator.barrier();
  });
}

TEST_P(NcclOnCuda, ArraysMayEndBeforeTheCollective) {
  on_ranks(on_gpus(GetParam()), [](Communicator& communicator) {
    const Device device = gpu(communicator.rank());
    const Array kept = Array::full({4}, 1, kFloat32, device);
    for (int i = 0; i < 5; ++i) {
      const Work work = communicator.all_reduce(Array::full({30000}, i, kFloat32, device));
      const Array next = Array::full({30000}, 7, kFloat32, device);  // must not get its memory
      communicator.all_reduce(kept).wait();
      work.wait();
      EXPECT_EQ(next.to(kCPU).data_as<float>()[0], 7);
    }
  });
}

TEST_P(NcclOnCuda, IsCapturedInAGraph) {
  on_ranks(on_gpus(GetParam()), [](Communicator& communicator) {
    const Device device = gpu(communicator.rank());
    const DeviceGuard guard(device);
    const Array small = Array::full({3}, 1, kFloat32, device);
    const Array large = Array::full({20000}, 1, kFloat32, device);
    communicator.all_reduce(large).wait();  // warm-up
    large.fill_(Scalar(1));
    Graph graph(device);
    graph.capture([&] {
      const Work first = communicator.all_reduce(small);
      communicator.all_reduce(large).wait();
      first.wait();
    });
    for (int i = 0; i < 3; ++i) graph.replay();
    const float expected = std::pow(static_cast<float>(communicator.size()), 3.0f);
    EXPECT_EQ(small.to(kCPU).data_as<float>()[2], expected);
    EXPECT_EQ(large.to(kCPU).data_as<float>()[19999], expected);
  });
}

TEST_P(NcclOnCuda, RanksFindEachOtherThroughTheHost) {
  on_ranks(GetParam(), [](Communicator& host) {
    const auto communicator = make_nccl_communicator(host, gpu(host.rank()));
    EXPECT_EQ(communicator->rank(), host.rank());
    EXPECT_EQ(communicator->name_of(0), host.name_of(0));
    const Array array = Array::full({5}, 1, kFloat16, gpu(host.rank()));
    communicator->all_reduce(array).wait();
    EXPECT_EQ(static_cast<float>(array.to(kCPU).data_as<Half>()[4]), host.size());
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, NcclOnCuda, testing::Values(1, 2, 3, 7));

template <int kGpus>
class OnGpus : public testing::Test {
 protected:
  void SetUp() override { skip_without_gpus(kGpus); }
};
using NcclOnOneCuda = OnGpus<1>;
using NcclOnTwoCuda = OnGpus<2>;

TEST_F(NcclOnTwoCuda, ARankThatDoesNotCallBreaksTheCommunicator) {
  std::atomic<bool> failed = false;
  on_ranks(on_gpus(2, 300ms), [&](Communicator& communicator) {
    if (communicator.rank() == 1) {
      while (!failed) std::this_thread::sleep_for(5ms);
      return;
    }
    const Array array = Array::full({10}, 1, kFloat32, gpu(0));
    const Work work = communicator.all_reduce(array);
    std::string message;
    try {
      while (!work.is_completed()) std::this_thread::sleep_for(5ms);
    } catch (const CommunicationError& error) {
      message = error.what();
    }
    failed = true;
    EXPECT_NE(message.find("all_reduce (sum) of 10 float32, collective 1, on rank 0 (cuda:0): has "
                           "not ended within 0.3 s"),
              std::string::npos)
        << message;
    EXPECT_THROW(work.wait(), CommunicationError);
    EXPECT_THROW(static_cast<void>(communicator.all_reduce(array)), CommunicationError);
  });
}

TEST_F(NcclOnOneCuda, AProgramThatWasStartedAloneIsOneRank) {
  const auto communicator = init_process_group({.backend = "nccl"});
  EXPECT_EQ(communicator->size(), 1);
  const Array array = Array::full({5}, 3, kFloat32, gpu(0));
  communicator->all_reduce(array, ReduceOp::average).wait();
  EXPECT_EQ(array.to(kCPU).data_as<float>()[4], 3);
}

TEST_F(NcclOnOneCuda, ACommunicatorOfTheHostIsNotCaptured) {
  const auto communicators = make_local_communicators(2);
  const Array array = Array::full({10}, 1, kFloat32, gpu(0));
  Graph graph(gpu(0));
  EXPECT_THROW(graph.capture([&] { communicators[0]->all_reduce(array).wait(); }),
               std::runtime_error);
}

TEST_F(NcclOnOneCuda, RefusesBadArguments) {
  EXPECT_THROW(static_cast<void>(make_nccl_communicators({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(make_nccl_communicators({kCPU})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(make_nccl_communicators({gpu(0), gpu(0)})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(make_nccl_communicators({gpu(0)}, 0ms)), std::invalid_argument);
  const auto communicator = on_gpus(1)[0];
  EXPECT_THROW(static_cast<void>(communicator->all_reduce(Array::full({4}, 1, kFloat32))),
               std::invalid_argument);
  EXPECT_EQ(communicator->name_of(0), "rank 0 (cuda:0)");
}

}  // namespace
}  // namespace halfgrad::dist
