#include <halfgrad/core/device_properties.h>

#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

TEST(DeviceProperties, NeedAGpuOfThisMachine) {
  const int count = cuda::device_count();
  EXPECT_THROW(cuda::get_device_properties(kCPU), std::invalid_argument);
  EXPECT_EQ(
      message_of<std::invalid_argument>([&] { cuda::get_device_properties(Device(kCUDA, count)); }),
      "get_device_properties: expected a GPU of this machine, which has " + std::to_string(count) +
          ", got cuda:" + std::to_string(count));
}

TEST(DeviceProperties, AreThoseOfAGpuOnCuda) {
  if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  const cuda::DeviceProperties gpu = cuda::get_device_properties();
  EXPECT_FALSE(gpu.name.empty());
  EXPECT_GE(gpu.major, 7) << "what CUDA 13 supports";
  EXPECT_GT(gpu.multi_processor_count, 0);
  EXPECT_GT(gpu.clock_rate, 1e8) << "in Hz";
  EXPECT_GT(gpu.memory_bandwidth, 1e10) << "in bytes per second";
}

}  // namespace
}  // namespace halfgrad
