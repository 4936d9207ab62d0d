#pragma once

#include <string>

#include <gtest/gtest.h>

#include <halfgrad/core/device.h>

namespace halfgrad {

/// A test for every kind of device; on a GPU it skips, and says so, where there is none.
class OnDevice : public ::testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override {
    if (device().is_cuda() && !cuda::is_available()) {
      GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
    }
  }
  Device device() const { return GetParam(); }
};

/// A test that compares a GPU with the CPU.
class OnCuda : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  }
};

}  // namespace halfgrad

#define HALFGRAD_ON_DEVICES(Suite)                                                                \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, ::testing::Values(kCPU, kCUDA), [](const auto& info) { \
    return Device(info.param).is_cuda() ? std::string("cuda") : std::string("cpu");               \
  })
