#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/tests/amp/autocast/casts.h>
#include <halfgrad/tests/devices.h>

/// The cache of casts: its entries, their lifetime, and gradients through a shared cast.
namespace halfgrad::amp {
namespace {

TEST(CastCache, HoldsOnlyFloat32LeavesThatRequireGrad) {
  const Tensor leaf = weight();
  const Tensor matrix = filled({2, 2}, 1).requires_grad_();
  const Tensor input = filled({2}, 1);
  const Tensor bfloat = filled({2}, 1, kBFloat16).requires_grad_();
  const Tensor product = leaf * leaf;
  const Tensor transposed = matrix.t();
  Tensor leaf_view = filled({2, 2}, 1).t();
  leaf_view.requires_grad_();
  const struct {
    const char* what;
    Tensor tensor;
    bool cached;
  } cases[] = {
      {"leaf", leaf, true},
      {"no grad", input, false},
      {"bf16 leaf", bfloat, false},
      {"not a leaf", product, false},
      {"view", transposed, false},
      {"leaf that is a view", leaf_view, false},
      {"detached", leaf.detach(), false},
  };
  const Autocast autocast(default_device_type());
  for (const auto& c : cases) {
    EXPECT_EQ(to_fast(c.tensor).is_same(to_fast(c.tensor)), c.cached) << c.what;
  }
}

TEST(CastCache, HoldsNoCastsToFloat32) {
  const Tensor leaf = filled({2}, 1, kHalf).requires_grad_();
  const Autocast autocast(default_device_type());
  EXPECT_FALSE(cast_as(Precision::wide_range, leaf).is_same(cast_as(Precision::wide_range, leaf)));
}

TEST(CastCache, CanBeSwitchedOff) {
  const Tensor leaf = weight();
  const Autocast autocast(default_device_type(), kHalf, true, false);
  EXPECT_FALSE(to_fast(leaf).is_same(to_fast(leaf)));
}

TEST(CastCache, IsClearedOnRequestAndAtTheEndOfTheOutermostRegion) {
  const Tensor leaf = weight();
  Tensor first;
  for (const DeviceType type : {kCPU, kCUDA}) {
    const Autocast outer(type, kHalf, false);  // disabled regions and other device types count
    {
      const Autocast inner(default_device_type());
      first = to_fast(leaf);
    }
    {
      const Autocast inner(default_device_type());
      EXPECT_TRUE(to_fast(leaf).is_same(first));
      clear_autocast_cache();
      const Tensor second = to_fast(leaf);
      EXPECT_FALSE(second.is_same(first));
      first = second;
    }
  }
  const Autocast next(default_device_type());
  EXPECT_FALSE(to_fast(leaf).is_same(first));
}

// An in-place update makes a new cast.
TEST(CastCache, RenewsACastAfterAnInPlaceUpdate) {
  Tensor leaf = weight(2);
  const Autocast autocast(default_device_type());
  EXPECT_EQ(to_fast(leaf).to_vector<double>(), (std::vector<double>{2, 2}));
  {
    const NoGradGuard no_grad;
    leaf.array().fill_(20);
    leaf.array().storage()->bump_version();
  }
  EXPECT_EQ(to_fast(leaf).to_vector<double>(), (std::vector<double>{20, 20}));
}

TEST(CastCache, HasOneCastPerDType) {
  const Tensor leaf = weight();
  const Autocast outer(default_device_type(), kHalf);
  const Tensor half = to_fast(leaf);
  {
    const Autocast inner(default_device_type(), kBFloat16);
    EXPECT_EQ(to_fast(leaf).dtype(), kBFloat16);
  }
  EXPECT_TRUE(to_fast(leaf).is_same(half));
}

// A cached cast is created with gradients enabled, even under NoGradGuard.
TEST(CastCache, FirstUseUnderNoGradDoesNotLoseTheGradient) {
  const Tensor leaf = weight();
  const Autocast autocast(default_device_type());
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE((to_fast(leaf) * filled({2}, 1, kHalf)).requires_grad());
  }
  EXPECT_TRUE(to_fast(leaf).requires_grad());
}

TEST(CastCache, NothingIsCachedInInferenceMode) {
  const Tensor leaf = weight();
  const Autocast autocast(default_device_type());
  {
    const InferenceMode inference;
    EXPECT_FALSE(to_fast(leaf).is_same(to_fast(leaf)));
  }
  const Tensor cast = to_fast(leaf);
  EXPECT_FALSE(cast.is_inference());
  EXPECT_TRUE(cast.requires_grad());
}

// bfloat16 has 8 bits: 256 + 1 = 256. Gradients through a shared cast are summed in bfloat16, as in
// PyTorch; cache_enabled = false gives 257.
TEST(CastCache, SharedCastSumsGradientsIn16Bits) {
  for (const bool cache_enabled : {true, false}) {
    const Tensor leaf = filled({1}, 1).requires_grad_();
    Tensor loss;
    {
      const Autocast autocast(default_device_type(), kBFloat16, true, cache_enabled);
      const Tensor large = to_fast(leaf) * filled({1}, 256, kBFloat16);
      const Tensor small = to_fast(leaf) * filled({1}, 1, kBFloat16);
      loss = large.sum() + small.sum();
    }
    loss.backward();
    EXPECT_EQ(leaf.grad().item(), cache_enabled ? 256 : 257);
  }
}

// The cast saves no operand, so backward may pass its node twice.
TEST(CastCache, ServesTwoLosses) {
  const Tensor leaf = weight();
  const Autocast autocast(default_device_type());
  const Tensor first = (to_fast(leaf) * filled({2}, 3, kHalf)).sum();
  const Tensor second = (to_fast(leaf) * filled({2}, 5, kHalf)).sum();
  first.backward();
  second.backward();
  EXPECT_EQ(leaf.grad().to_vector<double>(), (std::vector<double>{8, 8}));
}

// A new tensor may get the address of a destroyed one.
TEST(CastCache, DoesNotReuseTheCastOfADestroyedTensor) {
  const Autocast autocast(default_device_type());
  for (int k = 0; k < 100; ++k) EXPECT_EQ(to_fast(weight(k)).to_vector<double>()[0], k);
}

}  // namespace
}  // namespace halfgrad::amp
