#include <halfgrad/amp/autocast.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/ops.h>

namespace halfgrad::amp {
namespace {

// A matrix product as autocast sees it, with one operand: the operand after the cast.
Tensor cast_as(Precision precision, Tensor operand) {
  halfgrad::detail::cast_operands("op", precision, std::span(&operand, 1));
  return operand;
}
Tensor to_fast(const Tensor& operand) { return cast_as(Precision::tensor_core, operand); }

Tensor full(const Shape& sizes, double value, DType dtype = kFloat) {
  return Tensor(Array::full(sizes, value, dtype));
}
Tensor weight(double value = 2) { return full({2}, value).requires_grad_(); }

// --- State ---

struct State {
  bool enabled;
  DType dtype;
  bool cache_enabled;
  friend bool operator==(const State&, const State&) = default;
};
State state() {
  return {is_autocast_enabled(kCPU), get_autocast_dtype(kCPU), is_autocast_cache_enabled()};
}
constexpr State kOutside{false, kHalf, true};

TEST(Autocast, DefaultsToFloat16AndRestores) {
  EXPECT_EQ(state(), kOutside);
  {
    const Autocast autocast(kCPU);
    EXPECT_EQ(state(), (State{true, kHalf, true}));
  }
  EXPECT_EQ(state(), kOutside);
}

TEST(Autocast, RegionsNest) {
  const Autocast outer(kCPU, kBFloat16, true, false);
  EXPECT_EQ(state(), (State{true, kBFloat16, false}));
  {
    const Autocast off(kCPU, {.enabled = false});
    EXPECT_EQ(state(), (State{false, kBFloat16, false}));
    {
      const Autocast inherited(kCPU);
      EXPECT_EQ(state(), (State{true, kBFloat16, false}));
    }
    {
      const Autocast inner(kCPU, kHalf, true, true);
      EXPECT_EQ(state(), (State{true, kHalf, true}));
    }
    EXPECT_EQ(state(), (State{false, kBFloat16, false}));
  }
  EXPECT_EQ(state(), (State{true, kBFloat16, false}));
}

TEST(Autocast, OtherDeviceTypesKeepTheirState) {
  const Autocast outer(kCPU, kBFloat16);
  {
    const Autocast cuda_off(kCUDA, kHalf, false);
    EXPECT_EQ(get_autocast_dtype(kCUDA), kHalf);
    EXPECT_EQ(state(), (State{true, kBFloat16, true}));
    EXPECT_EQ(to_fast(weight()).dtype(), kBFloat16);
  }
  EXPECT_FALSE(is_autocast_enabled(kCUDA));
}

TEST(Autocast, RestoresOnException) {
  try {
    const Autocast autocast(kCPU, kBFloat16);
    throw std::runtime_error("inside");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(state(), kOutside);
}

TEST(Autocast, IsAScopeAndNothingElse) {
  static_assert(!std::is_copy_constructible_v<Autocast> && !std::is_move_constructible_v<Autocast>);
  static_assert(!std::is_copy_assignable_v<Autocast> && !std::is_move_assignable_v<Autocast>);
}

TEST(Autocast, UnsupportedRequestsWarnAndDisable) {
  const struct {
    DeviceType type;
    DType dtype;
    bool enabled;
    const char* warning;
  } cases[] = {
      {kCPU, kFloat, true, "expected float16 or bfloat16, got float32"},
      {kCPU, kLong, true, "expected float16 or bfloat16, got int64"},
      {kCPU, kFloat, false, ""},
      {kCPU, kHalf, true, ""},
  };
  for (const auto& c : cases) {
    testing::internal::CaptureStderr();
    {
      const Autocast autocast(c.type, c.dtype, c.enabled);
      EXPECT_EQ(is_autocast_enabled(c.type), c.enabled && is_reduced(c.dtype));
      EXPECT_EQ(get_autocast_dtype(c.type), c.dtype);
    }
    const std::string printed = testing::internal::GetCapturedStderr();
    EXPECT_EQ(printed.empty(), *c.warning == '\0') << printed;
    EXPECT_NE(printed.find(c.warning), std::string::npos) << printed;
  }
}

TEST(Autocast, CudaWithoutCudaWarnsAndIsDisabled) {
  if (cuda::is_available()) GTEST_SKIP() << "this machine has CUDA";
  testing::internal::CaptureStderr();
  {
    const Autocast autocast(kCUDA);
    EXPECT_FALSE(is_autocast_enabled(kCUDA));
  }
  EXPECT_NE(testing::internal::GetCapturedStderr().find("expected a machine with CUDA"),
            std::string::npos);
}

TEST(Autocast, StateBelongsToTheThread) {
  const Autocast autocast(kCPU, kBFloat16);
  std::thread([] {
    EXPECT_EQ(state(), kOutside);
    const Autocast other(kCPU, kHalf, true, false);
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(to_fast(weight()).dtype(), kHalf);
  }).join();
  EXPECT_EQ(state(), (State{true, kBFloat16, true}));
}

TEST(Autocast, TwoThreadsInDifferentRegions) {
  const Tensor shared = weight();
  const auto run = [&shared](DType dtype) {
    for (int k = 0; k < 1000; ++k) {
      const Autocast autocast(kCPU, dtype);
      if (to_fast(shared).dtype() != dtype) return ADD_FAILURE() << name(dtype), void();
    }
  };
  std::thread half(run, kHalf);
  std::thread bfloat(run, kBFloat16);
  half.join();
  bfloat.join();
}

// Composite ops switch the rule off while they compute: that is "no region" for the queries too.
TEST(Autocast, IsOffInsideOps) {
  const Autocast autocast(kCPU);
  const halfgrad::detail::CastRuleScope inside_op(nullptr);
  EXPECT_EQ(state(), kOutside);
  EXPECT_EQ(to_fast(weight()).dtype(), kFloat);
}

// --- Casts are recorded ---

TEST(Autocast, GradientsReturnInTheLeafsDType) {
  for (const DType fast : {kHalf, kBFloat16}) {
    for (const DType leaf_dtype : {kFloat, kHalf, kBFloat16}) {
      const Tensor leaf = full({2}, 2, leaf_dtype).requires_grad_();
      Tensor loss;
      {
        const Autocast autocast(kCPU, fast);
        const Tensor cast = to_fast(leaf);
        EXPECT_EQ(cast.dtype(), fast);
        loss = (cast * cast).sum();
        EXPECT_EQ(loss.dtype(), kFloat);  // sum: wide_accumulate
      }
      loss.backward();
      EXPECT_EQ(leaf.grad().dtype(), leaf_dtype);
      EXPECT_EQ(leaf.grad().to_vector<double>(), (std::vector<double>{4, 4}));
    }
  }
}

TEST(Autocast, BackwardInsideTheRegionGivesTheSame) {
  const Tensor leaf = weight();
  const Autocast autocast(kCPU);
  const Tensor cast = to_fast(leaf);
  (cast * cast).sum().backward();
  EXPECT_EQ(leaf.grad().dtype(), kFloat);
  EXPECT_EQ(leaf.grad().to_vector<double>(), (std::vector<double>{4, 4}));
}

// --- The cache of casts ---

TEST(CastCache, OnlyFloat32LeavesThatRequireGrad) {
  const Tensor leaf = weight();
  const Tensor matrix = full({2, 2}, 1).requires_grad_();
  const Tensor input = full({2}, 1);
  const Tensor bfloat = full({2}, 1, kBFloat16).requires_grad_();
  const Tensor product = leaf * leaf;
  const Tensor transposed = matrix.t();
  const struct {
    const char* what;
    Tensor tensor;
    bool cached;
  } cases[] = {
      {"leaf", leaf, true},         {"no grad", input, false},
      {"bf16 leaf", bfloat, false}, {"not a leaf", product, false},
      {"view", transposed, false},  {"detached", leaf.detach(), false},
  };
  const Autocast autocast(kCPU);
  for (const auto& c : cases) {
    EXPECT_EQ(to_fast(c.tensor).is_same(to_fast(c.tensor)), c.cached) << c.what;
  }
}

TEST(CastCache, NotForCastsToFloat32) {
  const Tensor leaf = full({2}, 1, kHalf).requires_grad_();
  const Autocast autocast(kCPU);
  EXPECT_FALSE(cast_as(Precision::wide_range, leaf).is_same(cast_as(Precision::wide_range, leaf)));
}

TEST(CastCache, CanBeSwitchedOff) {
  const Tensor leaf = weight();
  const Autocast autocast(kCPU, kHalf, true, false);
  EXPECT_FALSE(to_fast(leaf).is_same(to_fast(leaf)));
}

TEST(CastCache, ClearedByHandAndAtTheOutermostEnd) {
  const Tensor leaf = weight();
  Tensor first;
  {
    const Autocast outer(kCPU, kHalf, false);  // disabled regions count
    {
      const Autocast inner(kCPU);
      first = to_fast(leaf);
    }
    {
      const Autocast inner(kCPU);
      EXPECT_TRUE(to_fast(leaf).is_same(first));
      clear_autocast_cache();
      const Tensor second = to_fast(leaf);
      EXPECT_FALSE(second.is_same(first));
      first = second;
    }
  }
  const Autocast next(kCPU);
  EXPECT_FALSE(to_fast(leaf).is_same(first));
}

// Section 4.2: "no stale casts after an in-place update, no wrong dtype in a nested region".
TEST(CastCache, SeesInPlaceUpdates) {
  Tensor leaf = weight(2);
  const Autocast autocast(kCPU);
  EXPECT_EQ(to_fast(leaf).to_vector<double>(), (std::vector<double>{2, 2}));
  {
    const NoGradGuard no_grad;
    leaf.array().fill_(20);
    leaf.array().storage()->bump_version();
  }
  EXPECT_EQ(to_fast(leaf).to_vector<double>(), (std::vector<double>{20, 20}));
}

TEST(CastCache, KeepsDTypesApart) {
  const Tensor leaf = weight();
  const Autocast outer(kCPU, kHalf);
  const Tensor half = to_fast(leaf);
  {
    const Autocast inner(kCPU, kBFloat16);
    EXPECT_EQ(to_fast(leaf).dtype(), kBFloat16);
  }
  EXPECT_TRUE(to_fast(leaf).is_same(half));
}

// "A cached cast is always created with grad mode forced on".
TEST(CastCache, FirstUseUnderNoGradDoesNotLoseTheGradient) {
  const Tensor leaf = weight();
  const Autocast autocast(kCPU);
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE((to_fast(leaf) * full({2}, 1, kHalf)).requires_grad());
  }
  EXPECT_TRUE(to_fast(leaf).requires_grad());
}

TEST(CastCache, NothingIsCachedInInferenceMode) {
  const Tensor leaf = weight();
  const Autocast autocast(kCPU);
  {
    const InferenceMode inference;
    EXPECT_FALSE(to_fast(leaf).is_same(to_fast(leaf)));
  }
  const Tensor cast = to_fast(leaf);
  EXPECT_FALSE(cast.is_inference());
  EXPECT_TRUE(cast.requires_grad());
}

// bfloat16 has 8 bits: 256 + 1 = 256. "The low-precision sum of gradients through a shared cast is
// kept, and cache_enabled = false gives 257."
TEST(CastCache, SharedCastSumsGradientsIn16Bits) {
  for (const bool cache_enabled : {true, false}) {
    const Tensor leaf = full({1}, 1).requires_grad_();
    Tensor loss;
    {
      const Autocast autocast(kCPU, kBFloat16, true, cache_enabled);
      const Tensor large = to_fast(leaf) * full({1}, 256, kBFloat16);
      const Tensor small = to_fast(leaf) * full({1}, 1, kBFloat16);
      loss = large.sum() + small.sum();
    }
    loss.backward();
    EXPECT_EQ(leaf.grad().item(), cache_enabled ? 256 : 257);
  }
}

// The cast saves nothing, so that its node outlives the first backward.
TEST(CastCache, TwoLossesThroughOneCast) {
  const Tensor leaf = weight();
  const Autocast autocast(kCPU);
  const Tensor first = (to_fast(leaf) * full({2}, 3, kHalf)).sum();
  const Tensor second = (to_fast(leaf) * full({2}, 5, kHalf)).sum();
  first.backward();
  second.backward();
  EXPECT_EQ(leaf.grad().to_vector<double>(), (std::vector<double>{8, 8}));
}

// --- Section 2.10: casts round to nearest, ties to even ---

TEST(Autocast, CastGoldens) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const struct {
    DType dtype;
    double from, to;
  } cases[] = {
      {kHalf, 65519.99, 65504},
      {kHalf, 65520, kInf},
      {kHalf, 0x1p-24, 0x1p-24},
      {kHalf, 0x1p-25, 0},
      {kHalf, 0x1p-25 * 1.001, 0x1p-24},
      {kHalf, 6.1e-5, 6.097555160522461e-05},
      {kHalf, 1 + 0x1p-11, 1},
      {kHalf, 1 + 0x1p-11 + 0x1p-20, 1.0009765625},
      {kHalf, 1 + 3 * 0x1p-11, 1.001953125},
      {kHalf, 2049, 2048},
      {kHalf, 2051, 2052},
      {kHalf, 0.1, 0.0999755859375},
      {kHalf, 1.0 / 3, 0.333251953125},
      {kHalf, 1e-8, 0},
      {kBFloat16, 1 + 0x1p-8, 1},
      {kBFloat16, 1 + 3 * 0x1p-8, 1.015625},
      {kBFloat16, 1 + 0x1p-8 + 0x1p-16, 1.0078125},
      {kBFloat16, 0.1, 0.10009765625},
      {kBFloat16, 1.0 / 3, 0.333984375},
      {kBFloat16, 257, 256},
      {kBFloat16, 259, 260},
      {kBFloat16, 65504, 65536},
      {kBFloat16, 3.4e38, kInf},
      {kBFloat16, 1e-40, 9.183549615799121e-41},
  };
  for (const auto& c : cases) {
    const Autocast autocast(kCPU, c.dtype);
    const double cast = to_fast(full({1}, c.from)).item();
    EXPECT_EQ(std::bit_cast<std::uint64_t>(cast), std::bit_cast<std::uint64_t>(c.to))
        << c.from << " in " << name(c.dtype);
    const double nan = to_fast(full({1}, std::numeric_limits<double>::quiet_NaN())).item();
    EXPECT_NE(nan, nan);
  }
}

}  // namespace
}  // namespace halfgrad::amp
