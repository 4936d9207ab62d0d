#include <halfgrad/core/warning.h>

#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace halfgrad {
namespace {

/// Collects the warnings of one thread while it exists.
class Collector final : public WarningHandler {
 public:
  Collector() { WarningUtils::set_warning_handler(this); }
  ~Collector() override { WarningUtils::set_warning_handler(before_); }
  void process(const Warning& warning) override { messages.push_back(warning.msg()); }

  std::vector<std::string> messages;

 private:
  WarningHandler* before_ = WarningUtils::get_warning_handler();
};

TEST(WarningHandler, ReceivesTheWarningsOfItsThread) {
  Collector outer;
  {
    Collector inner;
    detail::warn("first");
    for (int i = 0; i < 2; ++i) detail::warn_once(CallSite::here(), "op", "second");
    std::thread([] {
      Collector other;
      detail::warn("third");
      EXPECT_EQ(other.messages, std::vector<std::string>{"third"});
    }).join();
    ASSERT_EQ(inner.messages.size(), 2U);
    EXPECT_EQ(inner.messages[0], "first");
    EXPECT_TRUE(inner.messages[1].starts_with("op: second; called at ")) << inner.messages[1];
  }
  detail::warn("fourth");
  EXPECT_EQ(outer.messages, std::vector<std::string>{"fourth"});
}

TEST(WarningHandler, PrintsALineAtFirst) {
  testing::internal::CaptureStderr();
  detail::warn("a text");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "halfgrad: warning: a text\n");
  const Collector collector;
  WarningUtils::set_warning_handler(nullptr);
  testing::internal::CaptureStderr();
  detail::warn("another");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "halfgrad: warning: another\n");
}

}  // namespace
}  // namespace halfgrad
