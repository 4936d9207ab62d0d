#include <halfgrad/emulator/settings.h>

#include <gtest/gtest.h>

#include <stdexcept>

namespace halfgrad::emulator {
namespace {

TEST(Settings, SurviveTheWayThroughJson) {
  Settings settings;
  settings.seed = 7;
  settings.gpu = "h100";
  settings.check_leak = false;
  const Settings read = parse_settings(to_json(settings));
  EXPECT_EQ(read.seed, 7u);
  EXPECT_EQ(read.gpu, "h100");
  EXPECT_FALSE(read.check_leak);
  EXPECT_EQ(to_json(read), to_json(settings));
}

TEST(Settings, RefuseUnknownNamesAndOtherTypes) {
  EXPECT_THROW(parse_settings(R"({"sed": 7})"), std::invalid_argument);
  EXPECT_THROW(parse_settings(R"({"seed": "seven"})"), std::invalid_argument);
  EXPECT_THROW(parse_settings("seed=7"), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::emulator
