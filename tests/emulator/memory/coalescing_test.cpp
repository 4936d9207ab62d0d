#include <halfgrad/emulator/memory/coalescing.h>

#include <gtest/gtest.h>

#include <random>
#include <set>

#include <halfgrad/emulator/memory/banks.h>

namespace halfgrad::emulator {
namespace {

LaneAddresses strided(std::uint64_t begin, std::uint64_t stride) {
  LaneAddresses addresses;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) addresses[lane] = begin + lane * stride;
  return addresses;
}

void expect_sectors(const Sectors& got, std::uint64_t touched, std::uint64_t needed,
                    std::uint64_t bytes) {
  EXPECT_EQ(got.touched, touched);
  EXPECT_EQ(got.needed, needed);
  EXPECT_EQ(got.bytes, bytes);
}

TEST(Coalescing, KnownPatterns) {
  expect_sectors(sectors_of(kAllLanes, strided(4096, 4), 4), 4, 4, 128);
  expect_sectors(sectors_of(kAllLanes, strided(4096 + 16, 4), 4), 5, 4, 128);  // not aligned
  expect_sectors(sectors_of(kAllLanes, strided(4096, 8), 4), 8, 4, 128);       // every second
  expect_sectors(sectors_of(kAllLanes, strided(4096, 128), 4), 32, 4, 128);    // a column
  expect_sectors(sectors_of(kAllLanes, strided(4096, 0), 4), 1, 1, 4);         // one for all
  expect_sectors(sectors_of(kAllLanes, strided(4096, 16), 16), 16, 16, 512);
  expect_sectors(sectors_of(0x1, strided(4096, 4), 4), 1, 1, 4);
  expect_sectors(sectors_of(0xffff, strided(4096, 2), 2), 1, 1, 32);
  expect_sectors(sectors_of(0, strided(4096, 2), 2), 0, 0, 0);
}

TEST(Coalescing, OrderOfLanesDoesNotMatter) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    LaneAddresses addresses;
    const unsigned bytes = 1u << random() % 6;
    for (std::uint64_t& address : addresses) address = 4096 + random() % 40 * 8;
    const LaneMask mask = static_cast<LaneMask>(random());
    std::set<std::uint64_t> sectors, distinct;
    each_lane(mask, [&](unsigned lane) {
      for (unsigned k = 0; k < bytes; ++k) {
        sectors.insert((addresses[lane] + k) / 32);
        distinct.insert(addresses[lane] + k);
      }
    });
    expect_sectors(sectors_of(mask, addresses, bytes), sectors.size(), (distinct.size() + 31) / 32,
                   distinct.size());
  }
}

TEST(Coalescing, ARangeIsWhatItsLanesAre) {
  for (const std::uint64_t begin : {4096u, 4100u, 4124u}) {
    const Sectors lanes = sectors_of(kAllLanes, strided(begin, 4), 4);
    expect_sectors(sectors_of_range(begin, 128), lanes.touched, lanes.needed, lanes.bytes);
  }
}

TEST(Banks, KnownPatterns) {
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 4), 4), 0u);
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 0), 4), 0u);     // broadcast
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 1), 1), 0u);     // bytes of 8 words
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 8), 4), 1u);     // two ways
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 128), 4), 31u);  // a column of rows of 32 floats
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 132), 4), 0u);   // a column of rows of 33 floats
  EXPECT_EQ(bank_conflicts(0xffff, strided(0, 128), 4), 15u);
}

TEST(Banks, WideAccessesRunInParts) {
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 8), 8), 0u);
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 16), 16), 0u);
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 16), 8), 2u);     // each half takes two cycles
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 128), 16), 28u);  // each quarter takes eight
  EXPECT_EQ(bank_conflicts(kAllLanes, strided(0, 144), 16), 0u);   // rows padded by 16 bytes
}

}  // namespace
}  // namespace halfgrad::emulator
