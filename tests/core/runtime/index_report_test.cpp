#include <halfgrad/core/cuda/runtime/index_report.h>

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace halfgrad::detail {
namespace {

TEST(IndexReport, IsTakenOnceAndOnlyAfterItIsWritten) {
  IndexReport report;
  EXPECT_FALSE(take(report));
  report.state = IndexReport::kClaimed;
  EXPECT_FALSE(take(report)) << "a kernel is about to write it";
  EXPECT_EQ(report.state, IndexReport::kClaimed) << "the kernel's claim stays";

  report.found = {"gather", 7, 3};
  report.state = IndexReport::kWritten;
  const auto found = take(report);
  ASSERT_TRUE(found);
  EXPECT_STREQ(found->op, "gather");
  EXPECT_EQ(found->index, 7);
  EXPECT_EQ(found->size, 3);
  EXPECT_FALSE(take(report));
  EXPECT_EQ(report.state, IndexReport::kFree) << "free for the next report";
}

TEST(IndexReport, OneOfSeveralWaitingThreadsTakesIt) {
  constexpr int kReports = 2000;
  IndexReport report;
  std::atomic<int> written{0}, asked{0}, taken{0};
  const auto wait = [&] {
    for (int i = 1; i <= kReports; ++i) {
      while (written < i) std::this_thread::yield();
      taken += take(report).has_value();
      ++asked;
    }
  };
  std::thread first(wait), second(wait);
  for (int i = 1; i <= kReports; ++i) {
    report.found = {"gather", i, i};
    report.state = IndexReport::kWritten;
    written = i;
    while (asked < 2 * i) std::this_thread::yield();
  }
  first.join();
  second.join();
  EXPECT_EQ(taken, kReports);
}

}  // namespace
}  // namespace halfgrad::detail
