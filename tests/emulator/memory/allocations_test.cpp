#include <halfgrad/emulator/memory/allocations.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <halfgrad/emulator/memory/lookup.h>
#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30;

const Allocation* device_memory(Allocations& memory, std::size_t bytes) {
  return memory.allocate(MemoryKind::device, 0, bytes, 256, "cudaMalloc");
}

TEST(Allocations, FindHoldsExactlyTheBytesOfAnAllocation) {
  Allocations memory;
  const Allocation* a = device_memory(memory, 1000);
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->begin % 256, 0u);
  EXPECT_EQ(memory.find(a->begin, 1000), a);
  EXPECT_EQ(memory.find(a->begin + 999, 1), a);
  EXPECT_EQ(memory.find(a->begin + 1000, 1), nullptr);
  EXPECT_EQ(memory.find(a->begin + 999, 2), nullptr);
  EXPECT_EQ(memory.find(a->begin - 1, 1), nullptr);
  EXPECT_EQ(memory.find(a->begin, ~std::size_t{0}), nullptr);
  EXPECT_EQ(memory.find(0, 1), nullptr);
}

TEST(Allocations, AreFarApartAndReadTheFreshByte) {
  Allocations memory;
  std::uint64_t last_end = 0;
  for (const std::size_t bytes : {1u, 256u, 511u, 4096u, 100000u}) {
    const Allocation* a = device_memory(memory, bytes);
    ASSERT_NE(a, nullptr);
    EXPECT_GE(a->begin, last_end + 512);
    last_end = a->end();
    EXPECT_TRUE(
        std::all_of(a->host, a->host + bytes, [](std::byte b) { return b == std::byte{0xA5}; }));
    std::memset(a->host, 1, bytes);
  }
}

TEST(Allocations, FreedMemoryIsNamedAndItsAddressesAreNotReusedSoon) {
  Allocations memory;
  const Allocation* a = device_memory(memory, 1024);
  const std::uint64_t begin = a->begin, generation = memory.generation();
  memory.free(begin);
  EXPECT_NE(memory.generation(), generation);
  EXPECT_EQ(memory.find(begin, 1), nullptr);
  EXPECT_TRUE(memory.was_freed(begin + 1023));
  EXPECT_FALSE(memory.was_freed(begin + 1024));
  EXPECT_EQ(memory.describe_neighbour(begin + 8),
            "at byte 8 of an allocation of 1024 bytes made by cudaMalloc, which was freed");
  for (int i = 0; i < 1000; ++i) EXPECT_NE(device_memory(memory, 1024)->begin, begin);
}

TEST(Allocations, ReusedRangesAreFreshAndNoLongerCountAsFreed) {
  Allocations memory;
  const std::size_t bytes = 6 * kGiB;
  const std::uint64_t first = device_memory(memory, bytes)->begin;
  std::memset(memory.find(first, 1)->host, 7, 4096);
  std::uint64_t begin = first;
  int count = 0;
  do {  // 64 GiB of addresses are used up at last
    memory.free(begin);
    const Allocation* next = device_memory(memory, bytes);
    ASSERT_NE(next, nullptr);
    EXPECT_EQ(next->host[0], std::byte{0xA5});
    begin = next->begin;
  } while (begin != first && ++count < 50);
  EXPECT_GE(count, 2);
  EXPECT_FALSE(memory.was_freed(begin));
}

TEST(Allocations, NeighboursAreDescribedOnBothSides) {
  Allocations memory;
  const Allocation* a = device_memory(memory, 1024);
  EXPECT_EQ(memory.describe_neighbour(a->end() + 4),
            "4 bytes after the end of an allocation of 1024 bytes made by cudaMalloc");
  EXPECT_EQ(memory.describe_neighbour(a->end()),
            "right after the end of an allocation of 1024 bytes made by cudaMalloc");
  EXPECT_EQ(memory.describe_neighbour(a->begin - 1),
            "1 byte before an allocation of 1024 bytes made by cudaMalloc");
  EXPECT_EQ(memory.describe_neighbour(16), "");
}

TEST(Allocations, TheDeviceHasNoMoreThanTheSettingsSay) {
  Allocations memory;
  const std::size_t all = settings().memory;
  EXPECT_EQ(device_memory(memory, all + 1), nullptr);
  const Allocation* most = device_memory(memory, all - 100);
  ASSERT_NE(most, nullptr);
  EXPECT_EQ(memory.bytes_in_use(0), all - 100);
  EXPECT_EQ(device_memory(memory, 101), nullptr);
  EXPECT_NE(device_memory(memory, 100), nullptr);
  EXPECT_NE(memory.allocate(MemoryKind::device, 1, 1000, 256, ""), nullptr) << "of another device";
  most->host[5 * kGiB] = std::byte{1};  // above 4 GiB, too, there is memory
  memory.free(most->begin);
  EXPECT_EQ(memory.bytes_in_use(0), 100u);
}

TEST(Allocations, HostMayAccessPinnedAndManagedMemory) {
  Allocations memory;
  for (const MemoryKind kind : {MemoryKind::pinned, MemoryKind::managed}) {
    const Allocation* a = memory.allocate(kind, 0, 5000, 256, "");
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(a->host), a->begin);
    std::memset(reinterpret_cast<void*>(a->begin), 3, 5000);
  }
  std::vector<char> registered(100);
  const Allocation* a = memory.add_host(registered.data(), 100, "cudaHostRegister");
  EXPECT_EQ(memory.find(a->begin + 99, 1), a);
  memory.free(a->begin);
  EXPECT_EQ(memory.find(reinterpret_cast<std::uint64_t>(registered.data()), 1), nullptr);
}

TEST(Allocations, VariablesStartWithZeros) {
  Allocations memory;
  const Allocation* a = memory.allocate(MemoryKind::variable, 0, 64, 16, "variable counter");
  EXPECT_EQ(a->host[63], std::byte{0});
  EXPECT_EQ(a->written[63], std::byte{1});
  EXPECT_EQ(device_memory(memory, 64)->written[0], std::byte{0});
}

TEST(Allocations, LookupForgetsWhatWasFreed) {
  Allocations memory;
  const Allocation* a = device_memory(memory, 64);
  const std::uint64_t begin = a->begin;
  EXPECT_EQ(host_range(memory, begin + 4, 4).at(begin + 4), a->host + 4);
  EXPECT_EQ(host_range(memory, begin + 61, 4).host, nullptr);
  memory.free(begin);
  EXPECT_EQ(host_range(memory, begin + 4, 4).host, nullptr);
  Allocations other;  // its addresses differ, and nothing of the first one's cache is found there
  device_memory(other, 64);
  EXPECT_EQ(host_range(other, begin, 4).host, nullptr);
}

TEST(Allocations, SurviveManyThreads) {
  Allocations memory;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&memory, seed] {
      std::mt19937 random(seed);
      std::vector<std::uint64_t> own;
      for (int i = 0; i < 3000; ++i) {
        if (own.size() < 20 || random() % 2 == 0) {
          const std::size_t bytes = 1 + random() % 10000;
          const Allocation* a = device_memory(memory, bytes);
          ASSERT_NE(a, nullptr);
          std::memset(a->host, static_cast<int>(seed), bytes);
          own.push_back(a->begin);
        } else {
          const std::size_t i_freed = random() % own.size();
          const std::byte* host = host_range(memory, own[i_freed], 1).host;
          ASSERT_NE(host, nullptr);
          EXPECT_EQ(*host, std::byte(seed)) << "another thread has the same bytes";
          memory.free(own[i_freed]);
          own.erase(own.begin() + static_cast<std::ptrdiff_t>(i_freed));
        }
      }
      for (const std::uint64_t begin : own) memory.free(begin);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory.bytes_in_use(0), 0u);
  EXPECT_TRUE(memory.live().empty());
}

/// The emulator's handler of SIGSEGV passes the signal on to the handler before it. A sanitizer's
/// handler would end the process in another way than the signal.
extern "C" const char* __asan_default_options() { return "handle_segv=0"; }
extern "C" const char* __tsan_default_options() { return "handle_segv=0"; }

using HostAccessDeathTest = ::testing::Test;

TEST(HostAccessDeathTest, DereferencingDeviceMemoryEndsTheProcessWithTheAllocationsName) {
  Allocations memory;
  const std::uint64_t address = device_memory(memory, 1024)->begin + 16;
  EXPECT_EXIT(*reinterpret_cast<volatile int*>(address) = 1, ::testing::KilledBySignal(SIGSEGV),
              "host code dereferences device address 0x[0-9a-f]+, at byte 16 of an allocation of "
              "1024 bytes made by cudaMalloc");
}

TEST(HostAccessDeathTest, OtherFaultsAreNotOurs) {
  Allocations memory;
  device_memory(memory, 1024);
  EXPECT_EXIT(*reinterpret_cast<volatile int*>(64) = 1, ::testing::KilledBySignal(SIGSEGV), "^$");
}

}  // namespace
}  // namespace halfgrad::emulator
