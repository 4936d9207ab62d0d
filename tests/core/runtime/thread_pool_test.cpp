#include <halfgrad/core/thread_pool.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace halfgrad {
namespace {

using Chunk = std::pair<std::int64_t, std::int64_t>;

std::vector<Chunk> sorted_chunks(std::int64_t begin, std::int64_t end, std::int64_t grain) {
  std::mutex mutex;
  std::vector<Chunk> chunks;
  parallel_for(begin, end, grain, [&](std::int64_t first, std::int64_t last) {
    const std::scoped_lock lock(mutex);
    chunks.emplace_back(first, last);
  });
  std::sort(chunks.begin(), chunks.end());
  return chunks;
}

class ThreadPool : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_num_threads(GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPool, ::testing::Values(1, 2, 3, 8));

TEST_P(ThreadPool, ChunksDependOnlyOnTheArguments) {
  EXPECT_EQ(get_num_threads(), GetParam());
  EXPECT_EQ(sorted_chunks(5, 5, 1), std::vector<Chunk>{});
  EXPECT_EQ(sorted_chunks(5, -5, 1), std::vector<Chunk>{});
  EXPECT_EQ(sorted_chunks(-3, 0, 3), (std::vector<Chunk>{{-3, 0}}));
  EXPECT_EQ(sorted_chunks(2, 10, 3), (std::vector<Chunk>{{2, 5}, {5, 8}, {8, 10}}));
  EXPECT_EQ(sorted_chunks(0, 4, 1), (std::vector<Chunk>{{0, 1}, {1, 2}, {2, 3}, {3, 4}}));
}

TEST_P(ThreadPool, RunsEachIndexOnceRegionAfterRegion) {
  std::vector<int> counts(1000);
  for (int region = 1; region <= 300; ++region) {
    parallel_for(0, 1000, 1 + region % 97, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) ++counts[i];
    });
    ASSERT_EQ(std::count(counts.begin(), counts.end(), region), 1000);
  }
}

TEST_P(ThreadPool, NestedRegionsRunSeriallyOnTheirThread) {
  std::atomic<int> done = 0, on_other_threads = 0;
  parallel_for(0, 8, 1, [&](std::int64_t, std::int64_t) {
    const auto self = std::this_thread::get_id();
    parallel_for(0, 16, 1, [&](std::int64_t, std::int64_t) {
      ++done;
      if (std::this_thread::get_id() != self) ++on_other_threads;
    });
  });
  EXPECT_EQ(done, 128);
  EXPECT_EQ(on_other_threads, 0);
}

TEST_P(ThreadPool, RethrowsTheFirstExceptionAndStaysUsable) {
  for (int attempt = 0; attempt < 50; ++attempt) {
    try {
      parallel_for(0, 64, 1, [](std::int64_t first, std::int64_t) {
        if (first % 8 == 3) throw std::out_of_range(std::to_string(first));
      });
      FAIL() << "expected an exception";
    } catch (const std::out_of_range& error) {
      EXPECT_EQ(std::stoi(error.what()) % 8, 3);
    }
    EXPECT_EQ(sorted_chunks(0, 64, 1).size(), 64u);
  }
}

TEST_P(ThreadPool, ServesSeveralCallersAtOnce) {
  std::atomic<std::int64_t> total = 0;
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int region = 0; region < 100; ++region) {
        parallel_for(0, 10, 1, [&](std::int64_t first, std::int64_t) { total += first; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total, 4 * 100 * 45);
}

TEST_P(ThreadPool, WakesSleepingWorkers) {
  for (int region = 0; region < 20; ++region) {
    std::this_thread::sleep_for(std::chrono::microseconds(region % 2 == 0 ? 1000 : 50));
    EXPECT_EQ(sorted_chunks(0, 9, 1).size(), 9u);
  }
}

// Every thread must hold a chunk before any may finish one.
TEST_P(ThreadPool, UsesTheRequestedNumberOfThreads) {
  std::atomic<int> arrived = 0;
  parallel_for(0, GetParam(), 1, [&](std::int64_t, std::int64_t) {
    ++arrived;
    while (arrived < GetParam()) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, GetParam());
}

TEST_P(ThreadPool, RefusesInvalidArguments) {
  EXPECT_THROW(set_num_threads(0), std::invalid_argument);
  EXPECT_THROW(parallel_for(0, 4, 0, [](std::int64_t, std::int64_t) {}), std::invalid_argument);
  if (GetParam() == 1) return;
  EXPECT_THROW(parallel_for(0, 4, 1, [](std::int64_t, std::int64_t) { set_num_threads(1); }),
               std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
