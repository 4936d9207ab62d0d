#include <halfgrad/core/allocator.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include <halfgrad/core/array.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad {
namespace {

class Allocator : public ::testing::Test {
 protected:
  void SetUp() override { allocator::empty_cache(Device()); }
  void TearDown() override {
    allocator::set_limit(Device(), 0);
    allocator::fail_allocation(Device(), 0);
  }
};

TEST_F(Allocator, CountsLiveAndCachedBytes) {
  const auto before = allocator::stats(Device());
  allocator::reset_peak(Device());
  {
    const Array x = Array::empty({1024}, kFloat);
    EXPECT_EQ(allocator::stats(Device()).current, before.current + 4096);
  }
  const auto after = allocator::stats(Device());
  EXPECT_EQ(after.current, before.current);
  EXPECT_EQ(after.peak, before.current + 4096);
  EXPECT_EQ(after.cached, 4096);
  EXPECT_EQ(after.allocations, before.allocations + 1);
}

TEST_F(Allocator, ReusesFreedBlocks) {
  const void* first = Array::empty({1000}, kFloat).data();
  const auto requests = allocator::stats(Device()).system_requests;
  const Array again = Array::empty({1020}, kFloat);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(allocator::stats(Device()).system_requests, requests);
}

TEST_F(Allocator, BlocksAreAlignedAndLargeEnough) {
  for (std::size_t bytes = 1; bytes < 70'000; bytes += bytes / 7 + 1) {
    const auto block = allocator::allocate(Device(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data) % 64, 0U);
    static_cast<char*>(block.data)[0] = 1;
    static_cast<char*>(block.data)[bytes - 1] = 1;
    allocator::deallocate(block);
  }
  EXPECT_EQ(allocator::allocate(Device(), 0).data, nullptr);
}

TEST_F(Allocator, RoundsUpByAQuarterAtMost) {
  for (std::size_t bytes = 257; bytes < (1U << 20U); bytes += bytes / 5) {
    const auto before = allocator::stats(Device()).current;
    const auto block = allocator::allocate(Device(), bytes);
    const auto held = allocator::stats(Device()).current - before;
    EXPECT_GE(held, static_cast<std::int64_t>(bytes));
    EXPECT_LE(held, static_cast<std::int64_t>(bytes + bytes / 4));
    allocator::deallocate(block);
  }
}

TEST_F(Allocator, AnErrorNamesTheLimit) {
  const auto held = static_cast<std::size_t>(allocator::stats(Device()).current);
  allocator::set_limit(Device(), held + 1000);
  const std::string message = message_of<OutOfMemoryError>([] { Array::empty({4, 256}, kFloat); });
  EXPECT_TRUE(
      message.starts_with("empty: expected 4.00 KiB for float32 [4, 256] on cpu, got a "
                          "refusal from the limit; "))
      << message;
  EXPECT_EQ(static_cast<std::size_t>(allocator::stats(Device()).current), held);
}

TEST_F(Allocator, SizesArePrintedWithUnits) {
  EXPECT_EQ(allocator::text_of_bytes(1), "1 byte");
  EXPECT_EQ(allocator::text_of_bytes(1023), "1023 bytes");
  EXPECT_EQ(allocator::text_of_bytes(1536), "1.50 KiB");
  EXPECT_EQ(allocator::text_of_bytes(std::int64_t{1} << 20), "1.00 MiB");
  EXPECT_EQ(allocator::text_of_bytes(std::int64_t{16} << 30), "16.00 GiB");
  EXPECT_EQ(allocator::text_of_bytes(std::int64_t{1} << 42), "4096.00 GiB");
}

TEST_F(Allocator, FaultInjectionFailsTheChosenAllocationOnce) {
  allocator::fail_allocation(Device(), 3);
  const Array first = Array::empty({1}, kFloat);
  const Array second = Array::empty({1}, kFloat);
  EXPECT_THROW(Array::empty({1}, kFloat), std::runtime_error);
  EXPECT_NO_THROW(Array::empty({1}, kFloat));
}

TEST_F(Allocator, PinnedMemoryIsOrdinaryWithoutAGpu) {
  if (cuda::is_available()) GTEST_SKIP() << "this machine has a GPU";
  const Array x = Array::empty_pinned({3}, kFloat);
  EXPECT_FALSE(x.is_pinned());
  x.fill_(2);
  EXPECT_EQ(x.pin_memory().select(0, 2).item(), 2);
}

}  // namespace
}  // namespace halfgrad
