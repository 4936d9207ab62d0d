#include <future>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/async/update_thread.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::optim {
namespace {

std::function<void()> failing(const std::string& message) {
  return [message] { throw std::runtime_error(message); };
}

TEST(UpdateThread, RunsJobsInOrderAndWaitsForOne) {
  std::vector<int> order;
  std::promise<void> go_on;
  UpdateThread thread;
  for (int i = 0; i < 100; ++i) thread.launch([&order, i] { order.push_back(i); });
  const UpdateThread::Ticket hundred = thread.launch([] {});
  thread.launch([gate = go_on.get_future().share()] { gate.wait(); });
  thread.wait(hundred);  // not for the last job, which cannot end yet
  ASSERT_EQ(order.size(), 100);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order[i], i);
  go_on.set_value();
  thread.wait();
}

TEST(UpdateThread, IsCurrentOnlyInItsJobs) {
  UpdateThread thread;
  bool in_job = false;
  std::string wait_in_job;
  thread.launch([&] {
    in_job = thread.is_current();
    wait_in_job = message_of<std::runtime_error>([&] { thread.wait(); });
  });
  thread.wait();
  EXPECT_TRUE(in_job);
  EXPECT_FALSE(thread.is_current());
  EXPECT_NE(wait_in_job.find("outside the update thread"), std::string::npos);
}

TEST(UpdateThread, DestructorRunsAllLaunchedJobs) {
  int count = 0;
  {
    UpdateThread thread;
    for (int i = 0; i < 1000; ++i) thread.launch([&] { ++count; });
  }
  EXPECT_EQ(count, 1000);
}

TEST(UpdateThread, FailureIsThrownOnceByTheFirstWaitForIt) {
  UpdateThread thread;
  const auto before = thread.launch([] {});
  const auto failed = thread.launch(failing("first"));
  thread.drain();
  EXPECT_EQ(message_of<std::runtime_error>([&] { thread.wait(before); }), "no error");
  EXPECT_EQ(message_of<std::runtime_error>([&] { thread.wait(failed); }), "first");
  EXPECT_EQ(message_of<std::runtime_error>([&] { thread.wait(failed); }), "no error");
}

TEST(UpdateThread, FailuresOfJobsLaunchedBeforeTheThrowingWaitAreDropped) {
  for (const bool all_have_run : {false, true}) {
    std::promise<void> go_on;
    UpdateThread thread;
    bool ran = false;
    const auto failed = thread.launch(failing("first"));
    thread.launch([gate = go_on.get_future().share()] {
      gate.wait();
      throw std::runtime_error("consequence");
    });
    thread.launch([&] { ran = true; });
    if (all_have_run) {
      go_on.set_value();
      thread.drain();
    }
    EXPECT_EQ(message_of<std::runtime_error>([&] { thread.wait(failed); }), "first");
    if (!all_have_run) go_on.set_value();
    EXPECT_EQ(message_of<std::runtime_error>([&] { thread.wait(); }), "no error");
    EXPECT_TRUE(ran);
    thread.launch(failing("second"));
    EXPECT_EQ(message_of<std::runtime_error>([&] { thread.wait(); }), "second");
  }
}

}  // namespace
}  // namespace halfgrad::optim
