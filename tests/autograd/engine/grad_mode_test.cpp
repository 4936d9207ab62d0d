#include <halfgrad/autograd/grad_mode.h>

#include <array>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halfgrad {
namespace {

using State = std::array<bool, 3>;

State state() {
  return {GradMode::is_enabled(), InferenceMode::is_enabled(), detail::modes.anomaly};
}

template <class Guard, class... Args>
std::function<std::shared_ptr<void>()> on_heap(Args... args) {
  return [=] { return std::make_shared<Guard>(args...); };
}

const struct {
  std::function<std::shared_ptr<void>()> make;
  State inside;
} kGuards[] = {
    {on_heap<NoGradGuard>(), {false, false, false}},
    {on_heap<EnableGradGuard>(), {true, false, false}},
    {on_heap<AutoGradMode>(false), {false, false, false}},
    {on_heap<InferenceMode>(), {false, true, false}},
    {on_heap<autograd::DetectAnomalyGuard>(), {true, false, true}},
};

TEST(GradModeGuards, MayEndInAnyOrder) {
  const State before = state();
  for (const auto& outer : kGuards) {
    for (const auto& inner : kGuards) {
      auto first = outer.make();
      EXPECT_EQ(state(), outer.inside);
      auto second = inner.make();
      first.reset();
      EXPECT_EQ(state(), inner.inside);
      second.reset();
      EXPECT_EQ(state(), before);
    }
  }
}

TEST(GradModeGuards, MayBeEndedByAnotherThread) {
  const State before = state();
  for (const auto& guard : kGuards) {
    auto here = guard.make();
    ::testing::internal::CaptureStderr();
    std::thread([&] {
      const State of_thread = state();
      here.reset();
      EXPECT_EQ(state(), of_thread);
    }).join();
    const std::string said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("expected its end on the thread that it began on"), std::string::npos);
    { const NoGradGuard next; }
    EXPECT_EQ(state(), before);
  }
}

}  // namespace
}  // namespace halfgrad
