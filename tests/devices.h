#pragma once

#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>

namespace halfgrad {

/// Skips the test if it needs a GPU and there is none. Call it in SetUp.
inline void skip_without(Device device) {
  if (device.is_cuda() && !cuda::is_available()) {
    GTEST_SKIP() << "no GPU: " << cuda::why_unavailable();
  }
}

inline std::string device_name(Device device) { return device.is_cuda() ? "cuda" : "cpu"; }

/// The type of the device for tests that do not choose one themselves; main.cpp sets it.
inline DeviceType default_device_type() { return get_default_device().type(); }

/// The other device type.
inline DeviceType other_device_type() { return default_device_type() == kCPU ? kCUDA : kCPU; }

/// A test that runs on every type of device.
class OnDevice : public ::testing::TestWithParam<DeviceType> {
 protected:
  void SetUp() override { skip_without(device()); }
  Device device() const { return GetParam(); }
};

/// A test that compares a GPU with the CPU.
class OnCuda : public ::testing::Test {
 protected:
  void SetUp() override { skip_without(kCUDA); }
};

}  // namespace halfgrad

#define HALFGRAD_ON_DEVICES(Suite)                                         \
  INSTANTIATE_TEST_SUITE_P(Devices, Suite, ::testing::Values(kCPU, kCUDA), \
                           [](const auto& info) { return device_name(Device(info.param)); })
