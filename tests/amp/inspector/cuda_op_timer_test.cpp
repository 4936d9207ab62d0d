#include <cstdint>
#include <sstream>

#include <gtest/gtest.h>

#include <halfgrad/amp/inspector/op_timer.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/tests/amp/inspector/op_row.h>

namespace halfgrad::amp {
namespace {

/// A replay runs what was captured, in one call: with the launches that the ops made eagerly.
TEST(OpTimerOnCuda, CountsTheLaunchesOfEachReplay) {
  if (!cuda::is_available()) GTEST_SKIP() << "graphs are captured on a GPU";
  const NoGradGuard no_grad;
  const Tensor x = ones({8, 8}, {.device = kCUDA});
  const auto work = [&] { static_cast<void>(softmax(matmul(x, x) + x, 1)); };
  OpTimer eager, replayed;
  work();
  {
    const OpObserverGuard guard(eager);
    work();
  }
  std::int64_t launches = 0;
  for (const OpTime& row : eager.times()) launches += row.launches;
  ASSERT_GE(launches, 3);

  Graph graph;
  graph.capture(work);
  graph.replay();  // without an observer
  {
    const OpObserverGuard guard(replayed);
    for (int i = 0; i < 5; ++i) graph.replay();
    work();
    const OpObserverPause pause;
    graph.replay();
  }
  const OpTime row = row_of(replayed, TimedOps::kGraphReplay);
  EXPECT_EQ(row.calls, 5);
  EXPECT_EQ(row.launches, 5 * launches);
  EXPECT_GT(row.self_seconds, 0);
  EXPECT_EQ(row_of(replayed, "softmax").launches, row_of(eager, "softmax").launches);
  std::ostringstream table;
  table << replayed;
  EXPECT_NE(table.str().find("\ngraph replay"), std::string::npos) << table.str();
}

}  // namespace
}  // namespace halfgrad::amp
