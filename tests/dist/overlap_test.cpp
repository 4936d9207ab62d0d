#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/files/read_file.h>
#include <halfgrad/report/trace/trace_writer.h>
#include <halfgrad/tests/folder.h>

#include "../report/timeline.h"
#include "parallel_training.h"
#include "recorder.h"

/// The trace of a training on several ranks shows that averages run beside backward.
namespace halfgrad::dist {
namespace {

using namespace std::chrono_literals;

/// Counts collectives that have ended.
class EndedCollectives {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++count_;
    changed_.notify_all();
  }
  void wait_for_one() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, 30s, [&] { return count_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
};

/// Two layers. Between their backward passes the model waits for the end of a collective: the trace
/// then has the same order on a busy machine.
struct WaitingNet : nn::Callable<WaitingNet> {
  std::shared_ptr<EndedCollectives> ended = std::make_shared<EndedCollectives>();
  nn::Linear first = register_module("first", nn::Linear(6, 20));
  nn::Linear last = register_module("last", nn::Linear(20, 3));

  Tensor forward(const Tensor& x) const {
    const Tensor between = tanh(first(x));
    between.register_hook([waited = ended](const Tensor& gradient) {
      waited->wait_for_one();
      return gradient;
    });
    return last(between);
  }
};

/// The slices of a track that are not part of others.
std::vector<report::Slice> outer_slices(const report::Timeline& timeline, const char* track) {
  std::vector<report::Slice> slices = timeline.slices.at(track);
  std::erase_if(slices, [](const report::Slice& slice) { return !slice.parent.empty(); });
  return slices;
}

void expect_overlap(const std::filesystem::path& file) {
  const std::string text = files::read_file<std::string>(file, "test");
  // A bucket is a multiple of 64 bytes.
  EXPECT_NE(text.find("all_reduce (average) of 16 float32, collective"), text.npos);
  const report::Timeline timeline(report::events_of(file));
  const auto averages = outer_slices(timeline, "communication");
  const auto backward = outer_slices(timeline, "backward");
  ASSERT_EQ(averages.size(), 4U) << "one for each weight and bias";
  ASSERT_GE(backward.size(), 4U) << "mse_loss, linear, tanh, linear";
  EXPECT_EQ(averages[0].name, "all_reduce");
  EXPECT_GT(averages[0].start, backward[0].end);
  EXPECT_LT(averages[0].end, backward.back().start);
}

TEST(Overlap, TheTraceShowsAnAverageThatEndsBeforeBackwardDoes) {
  const tests::Folder folder;
  const auto make = [] { return WaitingNet(); };
  on_models(2, make, [&](Communicator& communicator, const WaitingNet& net) {
    const DataParallel model(net, shared(communicator), {.bucket_bytes = 1});
    const Batch part = Batch::make().part(communicator);
    const auto count = communicator.watch([&](const auto& /*span*/) { net.ended->add(); });
    if (communicator.rank() > 0) {
      mse_loss(model(part.x), part.y).backward();
      return 0;
    }
    report::TraceWriter trace(folder / "trace.json");
    const auto watch = communicator.watch([&](const CollectiveSpan& span) {
      trace.slice("communication", span.name, span.start, span.end, {{"call", span.call}});
    });
    {
      const OpObserverGuard guard(trace);
      mse_loss(model(part.x), part.y).backward();
    }
    trace.write();
    expect_overlap(trace.file());
    return 0;
  });
}

TEST(Overlap, ACommunicatorIsWatchedUntilTheResultIsDestroyed) {
  on_ranks(2, [](Communicator& communicator) {
    const Array array = Array::full({10}, 1, kFloat32);
    std::vector<CollectiveSpan> first, second;
    auto watch = communicator.watch([&](const CollectiveSpan& span) { first.push_back(span); });
    communicator.all_reduce(array).wait();
    const auto other = communicator.watch([&](const auto& span) { second.push_back(span); });
    communicator.broadcast(array, 1).wait();
    watch.reset();
    communicator.barrier();
    ASSERT_EQ(first.size(), 2U);
    ASSERT_EQ(second.size(), 2U);
    EXPECT_EQ(first[0].call, "all_reduce (sum) of 10 float32, collective 1");
    EXPECT_EQ(first[1].name, "broadcast");
    EXPECT_EQ(second[1].name, "barrier");
    EXPECT_LE(second[0].end, second[1].start);
  });
}

TEST(Overlap, OnlyCommunicatorsOfTheHostAreWatched) {
  const auto alone = make_local_communicators(1)[0];
  Events events;
  Recorder other(*alone, events);
  const auto observer = [](const CollectiveSpan& /*span*/) {};
  EXPECT_THROW(static_cast<void>(other.watch(observer)), std::runtime_error);
}

}  // namespace
}  // namespace halfgrad::dist
