#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "../simt/small_gpu.h"

namespace halfgrad::emulator {
namespace {

using Random32 = std::independent_bits_engine<std::mt19937, 32, std::uint32_t>;

/// Runs `body` for 32 lanes with word `lane` in %r2 and the member mask 0x33333333 or all in %r4;
/// lanes outside the mask skip it. Stores %r3.
void run_masked(SmallGpu& gpu, std::uint32_t mask, const std::string& body) {
  const std::string enter =
      "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r2, [%rd3];\n"
      "mov.u32 %r3, 12345;\nmov.u32 %r4, " +
      std::to_string(mask) +
      ";\n"
      "shr.u32 %r5, %r4, %r1;\nand.b32 %r5, %r5, 1;\nsetp.eq.u32 %p1, %r5, 0;\n@%p1 bra DONE;\n";
  gpu.launch(kernel(enter + body + "DONE:\nst.global.u32 [%rd3+128], %r3;\nret;"), {}, {32});
  EXPECT_TRUE(gpu.findings.all().empty());
}

constexpr std::uint32_t kMasks[] = {0xffffffffu, 0x33333333u, 1u << 31, 0x00ff0f01u};

std::vector<std::uint32_t> members_values(SmallGpu& gpu, std::uint32_t mask) {
  std::vector<std::uint32_t> values;
  for (std::size_t i = 0; i < 32; ++i) {
    if ((mask >> i & 1) != 0) values.push_back(gpu.word(i));
  }
  return values;
}

void expect_in_members(SmallGpu& gpu, std::uint32_t mask, std::uint32_t expected) {
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(gpu.word(32 + i), (mask >> i & 1) != 0 ? expected : 12345u) << "lane " << i;
  }
}

TEST(Vote, CountsTheMembersOnly) {
  Random32 random(3);
  for (const std::uint32_t mask : kMasks) {
    for (const std::uint32_t bits : {0u, ~0u, mask, ~mask, mask & 0x5555u, random()}) {
      const std::uint32_t yes = bits & mask;
      const auto vote = [&](const std::string& mode, const std::string& predicate) {
        SmallGpu gpu;
        for (std::size_t i = 0; i < 32; ++i) gpu.word(i) = bits >> i & 1;
        const std::string text =
            mode == "ballot.b32"
                ? "vote.sync.ballot.b32 %r3, " + predicate + ", %r4;\n"
                : "vote.sync." + mode + " %p3, " + predicate + ", %r4;\nselp.u32 %r3, 1, 0, %p3;\n";
        run_masked(gpu, mask, "setp.ne.u32 %p2, %r2, 0;\n" + text);
        return std::pair{gpu.word(32 + std::countr_zero(mask)),
                         gpu.word(32 + 31 - std::countl_zero(mask))};
      };
      const auto both = [](std::uint32_t x) { return std::pair{x, x}; };
      EXPECT_EQ(vote("ballot.b32", "%p2"), both(yes));
      EXPECT_EQ(vote("ballot.b32", "!%p2"), both(mask & ~yes));
      EXPECT_EQ(vote("all.pred", "%p2"), both(yes == mask));
      EXPECT_EQ(vote("any.pred", "%p2"), both(yes != 0));
      EXPECT_EQ(vote("any.pred", "!%p2"), both(yes != mask));
      EXPECT_EQ(vote("uni.pred", "%p2"), both(yes == 0 || yes == mask));
    }
  }
}

TEST(Match, FindsEqualValues) {
  for (const std::uint32_t mask : kMasks) {
    SmallGpu gpu;
    for (std::uint32_t i = 0; i < 32; ++i) gpu.word(i) = i * i % 7;
    run_masked(gpu, mask, "match.any.sync.b32 %r3, %r2, %r4;\n");
    for (std::size_t i = 0; i < 32; ++i) {
      std::uint32_t expected = 0;
      for (std::size_t j = 0; j < 32; ++j) {
        expected |= std::uint32_t{gpu.word(i) == gpu.word(j)} << j;
      }
      if ((mask >> i & 1) == 0) continue;
      EXPECT_EQ(gpu.word(32 + i), expected & mask);
    }
  }
}

TEST(Match, OfSixtyFourBitsSeesTheUpperHalf) {
  SmallGpu gpu;
  for (std::uint32_t i = 0; i < 32; ++i) gpu.word(i) = i % 2;
  run_masked(gpu, ~0u,
             "mov.u32 %r6, 9;\nmov.b64 %rd4, {%r6, %r2};\n"
             "match.any.sync.b64 %r3, %rd4, %r4;\n");
  EXPECT_EQ(gpu.word(32), 0x55555555u);
  EXPECT_EQ(gpu.word(33), 0xaaaaaaaau);
}

TEST(Match, AllGivesTheMaskOrNothing) {
  for (const std::uint32_t mask : kMasks) {
    for (const bool same : {true, false}) {
      if (!same && mask == 1u << 31) continue;
      SmallGpu gpu;
      for (std::uint32_t i = 0; i < 32; ++i) gpu.word(i) = same || (mask >> i & 1) == 0 ? 5 : i;
      run_masked(gpu, mask, "match.all.sync.b32 %r3|%p2, %r2, %r4;\n@%p2 add.u32 %r3, %r3, 1;\n");
      expect_in_members(gpu, mask, same ? mask + 1 : 0);
    }
  }
}

struct Reduction {
  const char* name;
  std::uint32_t (*apply)(std::uint32_t, std::uint32_t);
};
std::uint32_t smaller_signed(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b) ? a : b;
}

TEST(WarpReduction, CombinesTheMembers) {
  const Reduction reductions[] = {
      {"add.u32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
      {"add.s32", [](std::uint32_t a, std::uint32_t b) { return a + b; }},
      {"and.b32", [](std::uint32_t a, std::uint32_t b) { return a & b; }},
      {"or.b32", [](std::uint32_t a, std::uint32_t b) { return a | b; }},
      {"xor.b32", [](std::uint32_t a, std::uint32_t b) { return a ^ b; }},
      {"min.u32", [](std::uint32_t a, std::uint32_t b) { return a < b ? a : b; }},
      {"max.u32", [](std::uint32_t a, std::uint32_t b) { return a < b ? b : a; }},
      {"min.s32", smaller_signed},
      {"max.s32",
       [](std::uint32_t a, std::uint32_t b) { return smaller_signed(a, b) == a ? b : a; }}};
  Random32 random(11);
  for (const Reduction& reduction : reductions) {
    for (const std::uint32_t mask : kMasks) {
      SmallGpu gpu;
      for (std::size_t i = 0; i < 32; ++i) {
        gpu.word(i) = i == 31 ? 0x80000000u : i == 4 ? 0x7fffffffu : random();
      }
      const std::vector<std::uint32_t> values = members_values(gpu, mask);
      std::uint32_t expected = values[0];
      for (std::size_t i = 1; i < values.size(); ++i)
        expected = reduction.apply(expected, values[i]);
      run_masked(gpu, mask, std::string("redux.sync.") + reduction.name + " %r3, %r2, %r4;\n");
      expect_in_members(gpu, mask, expected);
    }
  }
}

TEST(WarpReduction, OfFloatsTreatsNanAndSignsAsDefined) {
  const auto reduce = [](const std::string& form, std::uint32_t first, std::uint32_t others) {
    SmallGpu gpu;
    for (std::size_t i = 0; i < 32; ++i) gpu.word(i) = i == 17 ? first : others;
    run_masked(gpu, ~0u,
               ".reg .f32 %f<3>;\nmov.b32 %f1, %r2;\nredux.sync." + form +
                   ".f32 %f2, %f1, %r4;\nmov.b32 %r3, %f2;\n");
    return gpu.word(32);
  };
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  const std::uint32_t nan = 0x7fc00001;
  EXPECT_EQ(reduce("min", bits(-3), bits(2)), bits(-3));
  EXPECT_EQ(reduce("max", bits(-3), bits(2)), bits(2));
  EXPECT_EQ(reduce("max.abs", bits(-3), bits(2)), bits(3));
  EXPECT_EQ(reduce("min", bits(-0.0f), bits(0)), bits(-0.0f));
  EXPECT_EQ(reduce("max", bits(0), bits(-0.0f)), bits(0));
  EXPECT_EQ(reduce("min", nan, bits(2)), bits(2));
  EXPECT_EQ(reduce("min.NaN", nan, bits(2)), 0x7fffffffu);
  EXPECT_EQ(reduce("max", nan, nan), 0x7fffffffu);
  EXPECT_EQ(reduce("max", bits(std::numeric_limits<float>::infinity()), bits(2)), 0x7f800000u);
}

TEST(ActiveMask, NamesTheLanesThatExecute) {
  SmallGpu gpu;
  run_masked(gpu, 0x00ff0f01u, "activemask.b32 %r3;\n");
  expect_in_members(gpu, 0x00ff0f01u, 0x00ff0f01u);
}

TEST(Elect, ChoosesOneMember) {
  SmallGpu gpu;
  run_masked(gpu, 0x00ff0f00u, "elect.sync %r3|%p2, %r4;\n@%p2 add.u32 %r3, %r3, 100;\n");
  for (std::size_t i = 0; i < 32; ++i) {
    const bool member = (0x00ff0f00u >> i & 1) != 0;
    EXPECT_EQ(gpu.word(32 + i), !member ? 12345u : i == 8 ? 108u : 8u);
  }
}

}  // namespace
}  // namespace halfgrad::emulator
