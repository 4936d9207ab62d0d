#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <set>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/moved_bits.h>

/// Values that only some kernels take for others: bits of NaN, values beside a tie of the output.
namespace halfgrad::testing {
namespace {

TEST(VaryNans, GivesBitsThatNarrowingMistakes) {
  const float values[] = {NAN, 1, -NAN, NAN, INFINITY, NAN};
  std::vector<std::byte> bytes(sizeof values);
  std::memcpy(bytes.data(), values, sizeof values);
  std::set<std::uint32_t> seen;
  for (std::size_t first = 0; first < 4; ++first) {
    vary_nans(bytes, kFloat32, first, true, false);
    std::uint32_t bits[6];
    std::memcpy(bits, bytes.data(), sizeof bits);
    EXPECT_EQ(bits[1], 0x3f800000u);
    EXPECT_EQ(bits[4], 0x7f800000u);
    for (const int i : {0, 2, 3, 5}) seen.insert(bits[i]);
  }
  EXPECT_EQ(seen, (std::set<std::uint32_t>{0x7fffffffu, 0xffffffffu, 0x7f800001u, 0xffc00000u}));
}

/// abs of float32 in bfloat16 that rounds the bits without a look at NaN: 0x7fffffff becomes -0.
void abs_by_bits(const std::vector<Array>& in, const Array& out) {
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const std::uint32_t x = std::bit_cast<std::uint32_t>(in[0].data_as<float>()[i]) & 0x7fffffffu;
    out.data_as<BFloat16>()[i] =
        std::bit_cast<BFloat16>(static_cast<std::uint16_t>((x + 0x7fffu + (x >> 16 & 1)) >> 16));
  }
}

// The terms of a sum of 33001 integers are multiples of 1 below 2^24: no partial sum rounds.
TEST(ExactSums, HaveTheErrorOfStoringOnly) {
  const auto allowed = [](const char* op, Hostile kind, DType accumulate) {
    const KernelOp of = kernel_op(op);
    KernelCase tried;
    tried.dims = {2, 3, 8194};
    tried.inputs = kind;
    const ErrorBudget budget = error_budget(of, case_operands(of, tried), accumulate, kFloat32);
    double most = 0;
    for (std::size_t i = 0; i < budget.allowed.size(); ++i) {
      most = std::fmax(most, budget.allowed[i] / std::fmax(1, std::fabs(budget.expected[i])));
    }
    return most;
  };
  for (const char* op : {"sum", "mm", "linear", "linear_backward"}) {
    for (const Hostile kind : {Hostile::integers, Hostile::wide_integers, Hostile::wide_others}) {
      EXPECT_LT(allowed(op, kind, kFloat32), 0x1p-22) << op << ' ' << name(kind);
    }
  }
  for (const char* op : {"sum", "mm", "linear"}) {
    EXPECT_GT(allowed(op, Hostile::integers, kFloat16), 0x1p-22) << op;
    EXPECT_GT(allowed(op, Hostile::normal, kFloat32), 0x1p-22) << op;
  }
}

// With --emulate the dims are those of all kinds of inputs.
TEST(KernelValues, AcceptsTheDefaultDimsOfAnOpOfFixedShapes) {
  KernelCheckOptions options;
  options.dims = check_dims_of(kernel_op("permute")).all_kinds;
  EXPECT_FALSE(case_groups(kernel_op("permute"), options).empty());
}

TEST(KernelValues, RefusesDimsOfAnOpOfFixedShapes) {
  const auto kernel = [](const std::vector<Array>&, const Array&) {};
  try {
    check_kernel(kernel, "permute", {.dims = {{3, 1, 7}}});
    FAIL() << "accepted dims that do nothing";
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("expected no dims, as permute"), std::string::npos)
        << error.what();
  }
}

TEST(KernelValues, NarrowingANanByItsBitsIsFound) {
  for (const std::uint64_t seed : {0u, 1u, 2u}) {
    const KernelReport report =
        check_kernel(abs_by_bits, "abs", {.output = kBFloat16, .shrink = false, .seed = seed});
    ASSERT_FALSE(report.findings.empty());
    EXPECT_EQ(report.findings[0].fault, Fault::wrong_value) << to_text(report);
  }
}

/// neg of float64 in bfloat16 that rounds to float32 first.
void neg_by_float(const std::vector<Array>& in, const Array& out) {
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    out.data_as<BFloat16>()[i] = BFloat16(static_cast<float>(-in[0].data_as<double>()[i]));
  }
}

TEST(KernelValues, RoundingTwiceIsFoundForEverySeed) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const KernelReport report =
        check_kernel(neg_by_float, "neg",
                     {.dtype = kFloat64, .output = kBFloat16, .shrink = false, .seed = seed});
    ASSERT_FALSE(report.findings.empty()) << seed;
    EXPECT_EQ(report.findings[0].fault, Fault::wrong_value) << to_text(report);
  }
}

TEST(KernelValues, AddingToTheOutputIsNamed) {
  const auto adds = [](const std::vector<Array>& in, const Array& out) {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      out.data_as<float>()[i] += in[0].data_as<float>()[i];
    }
  };
  const KernelReport report =
      check_kernel(adds, "relu", {.dims = {{2, 3}}, .shrink = false, .stop_at_first = true});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].fault, Fault::unwritten);
  EXPECT_EQ(report.findings[0].message,
            "the kernel adds to what was in its output, which it must overwrite: 6 of 6 elements");
}

TEST(KernelValues, SwigluMayBeNanWhereSiluUnderflows) {
  const auto by_division = [](const std::vector<Array>& in, const Array& out) {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      const float x = in[0].data_as<float>()[i];
      out.data_as<float>()[i] = x / (1 + std::exp(-x)) * in[1].data_as<float>()[i];
    }
  };
  const KernelReport report = check_kernel(by_division, "swiglu", {.shrink = false});
  EXPECT_TRUE(report.passed()) << to_text(report);
}

// Equal elements, and inputs that run in each layout, are no independent draws: a mean of few last
// elements that counts them all is 0.27 ulps for this kernel.
TEST(KernelValues, RoundingOfFewLastElementsIsNotAccused) {
  const auto subtract = [](const std::vector<Array>& in, const Array& out) {
    const BFloat16 *a = in[0].data_as<BFloat16>(), *b = in[1].data_as<BFloat16>();
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      out.data_as<BFloat16>()[i] = BFloat16(static_cast<float>(a[i]) - static_cast<float>(b[i]));
    }
  };
  const KernelReport report = check_kernel(subtract, "sub",
                                           {.dtype = kBFloat16,
                                            .dims = {{1, 7}, {3, 17}, {5, 9}, {1, 1031}},
                                            .shrink = false,
                                            .repeat = 0});
  EXPECT_TRUE(report.passed()) << to_text(report);
}

}  // namespace
}  // namespace halfgrad::testing
