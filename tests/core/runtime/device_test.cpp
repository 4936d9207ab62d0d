#include <halfgrad/core/device.h>

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <halfgrad/core/array.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/stream.h>

namespace halfgrad {
namespace {

TEST(Device, NamesParseOrThrow) {
  EXPECT_EQ(Device("cpu"), Device());
  EXPECT_EQ(Device("cuda:3").index(), 3);
  EXPECT_EQ(Device("cuda").str(), "cuda:0");
  for (const char* bad : {"", "gpu", "cuda:", "cuda:-1", "cuda:1x", "cpu:0"}) {
    EXPECT_THROW(Device{std::string_view(bad)}, std::invalid_argument) << bad;
  }
}

TEST(Device, CanBeAKeyOfAMap) {
  const std::vector<Device> sorted{Device(), Device(kCPU, 1), Device(kCUDA), Device(kCUDA, 1)};
  const std::set<Device> ordered(sorted.rbegin(), sorted.rend());
  EXPECT_EQ(std::vector(ordered.begin(), ordered.end()), sorted);
  EXPECT_LT(Device(kCPU, 9), Device(kCUDA));
  EXPECT_GE(Device(kCUDA, 1), Device(kCUDA, 1));
  std::unordered_map<Device, int> indices;
  std::set<std::size_t> hashes;
  for (const Device device : sorted) {
    indices[device] = device.index();
    hashes.insert(std::hash<Device>()(device));
  }
  EXPECT_EQ(indices.size(), sorted.size());
  EXPECT_EQ(indices.at(Device("cuda:1")), 1);
  EXPECT_EQ(hashes.size(), sorted.size());
}

TEST(Device, WhyUnavailableIsEmptyIfAGpuIsAvailable) {
  EXPECT_EQ(cuda::is_available(), cuda::device_count() > 0);
  EXPECT_EQ(cuda::is_available(), cuda::why_unavailable().empty());
}

template <class Error, class F>
void expect_refusal(const F& f, const char* first_word) {
  try {
    f();
    FAIL() << "expected " << first_word << " to throw";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(first_word)) << message;
    EXPECT_NE(message.find(cuda::why_unavailable()), std::string::npos) << message;
  }
}

TEST(Device, RefusesAMissingGpuAndAnIndexOutOfRange) {
  const Device missing(kCUDA, cuda::device_count());
  using std::invalid_argument, std::runtime_error;
  expect_refusal<runtime_error>([&] { Array::empty({1}, kFloat, missing); }, "allocate:");
  expect_refusal<runtime_error>([&] { allocator::stats(missing); }, "allocate:");
  expect_refusal<runtime_error>([&] { const Stream stream(missing); }, "Stream:");
  expect_refusal<runtime_error>([&] { current_stream(missing); }, "current_stream:");
  expect_refusal<runtime_error>([&] { cuda::synchronize(missing); }, "synchronize:");
  expect_refusal<runtime_error>([&] { const Graph graph(missing); }, "current_stream:");
  expect_refusal<invalid_argument>([&] { cuda::set_device(missing.index()); }, "set_device:");
  expect_refusal<invalid_argument>([&] { const DeviceGuard guard(missing); }, "set_device:");
}

TEST(Device, GuardRestoresTheCurrentDevice) {
  { const DeviceGuard nothing(kCPU); }
  if (cuda::device_count() < 2) GTEST_SKIP() << "no second GPU: " << cuda::why_unavailable();
  const int before = cuda::current_device();
  {
    const DeviceGuard guard(Device(kCUDA, 1 - before));
    EXPECT_EQ(cuda::current_device(), 1 - before);
  }
  EXPECT_EQ(cuda::current_device(), before);
}

}  // namespace
}  // namespace halfgrad
