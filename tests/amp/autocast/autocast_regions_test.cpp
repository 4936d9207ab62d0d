#include <halfgrad/amp/autocast.h>

#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/autocast/casts.h>
#include <halfgrad/tests/devices.h>

/// Regions that do not end in the reverse order of their beginnings.
namespace halfgrad::amp {
namespace {

// Regions on the heap have no fixed order.
TEST(Autocast, RegionsMayEndInAnyOrder) {
  const DeviceType type = default_device_type();
  const Tensor x = ones({2, 2}, kFloat);
  const auto product = [&] { return mm(x, x).dtype(); };
  auto outer = std::make_unique<Autocast>(type, kHalf);
  auto inner = std::make_unique<Autocast>(type, kBFloat16);
  outer.reset();
  EXPECT_EQ(product(), kBFloat16);
  EXPECT_EQ(get_autocast_dtype(type), kBFloat16);
  inner.reset();
  EXPECT_EQ(product(), kFloat);
  EXPECT_FALSE(is_autocast_enabled(type));
}

TEST(Autocast, RegionThatAnotherThreadEndsStaysUntilTheNext) {
  const DeviceType type = default_device_type();
  const Tensor x = ones({2, 2}, kFloat);
  auto region = std::make_unique<Autocast>(type, kHalf);
  ::testing::internal::CaptureStderr();
  std::thread([&] {
    region.reset();
    EXPECT_EQ(mm(x, x).dtype(), kFloat);
  }).join();
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("Autocast: expected its end on"),
            std::string::npos);
  EXPECT_EQ(mm(x, x).dtype(), kHalf);
  EXPECT_FALSE(is_autocast_enabled(type));  // the query ends the abandoned region
  EXPECT_EQ(mm(x, x).dtype(), kFloat);
}

}  // namespace
}  // namespace halfgrad::amp
