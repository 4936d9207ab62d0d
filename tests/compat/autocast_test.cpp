#include <halfgrad/compat/torch.h>

#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

// libtorch's switches of autocast beside regions of amp::Autocast.
namespace halfgrad {
namespace {

DType dtype_of_product() {
  const Tensor x = ones({2, 2});
  return x.matmul(x).dtype();
}

// Leaves the switches of this thread as they were at its start.
class AutocastSwitches : public ::testing::Test {
 protected:
  void TearDown() override {
    autocast::set_autocast_enabled(kCPU, false);
    autocast::set_autocast_dtype(kCPU, kHalf);
    autocast::set_autocast_cache_enabled(true);
    autocast::clear_cache();
  }
};

TEST_F(AutocastSwitches, StayAsTheyAreSet) {
  EXPECT_FALSE(autocast::is_autocast_enabled(kCPU));
  EXPECT_EQ(dtype_of_product(), kFloat);
  autocast::set_autocast_enabled(kCPU, true);
  EXPECT_TRUE(autocast::is_autocast_enabled(kCPU));
  EXPECT_FALSE(autocast::is_enabled());
  EXPECT_EQ(dtype_of_product(), kHalf);
  autocast::set_autocast_cpu_dtype(kBFloat16);
  EXPECT_EQ(autocast::get_autocast_dtype(kCPU), kBFloat16);
  EXPECT_EQ(dtype_of_product(), kBFloat16);
  EXPECT_EQ(ones({2}).softmax(0).dtype(), kFloat);
  autocast::set_cpu_enabled(false);
  EXPECT_EQ(dtype_of_product(), kFloat);
}

TEST_F(AutocastSwitches, ChangeTheInnermostRegionUntilItEnds) {
  {
    const amp::Autocast region(kCPU);
    autocast::set_autocast_enabled(kCPU, false);
    EXPECT_EQ(dtype_of_product(), kFloat);
    {
      const amp::Autocast inner(kCPU, kBFloat16);
      EXPECT_EQ(dtype_of_product(), kBFloat16);
    }
    EXPECT_EQ(dtype_of_product(), kFloat);
  }
  EXPECT_FALSE(autocast::is_autocast_enabled(kCPU));
  autocast::set_autocast_enabled(kCPU, true);
  {
    const amp::Autocast region(kCPU, {.enabled = false});
    EXPECT_EQ(dtype_of_product(), kFloat);
  }
  EXPECT_EQ(dtype_of_product(), kHalf);
}

TEST_F(AutocastSwitches, BelongToTheirThread) {
  autocast::set_autocast_enabled(kCPU, true);
  DType elsewhere = kDouble;
  std::thread([&] { elsewhere = dtype_of_product(); }).join();
  EXPECT_EQ(elsewhere, kFloat);
}

TEST_F(AutocastSwitches, KeepTheCacheUntilItIsCleared) {
  const Tensor w = ones({2, 2}, requires_grad());
  const Tensor x = ones({2, 2});
  const auto product_after_silent_change = [&] {
    x.matmul(w);
    w.data_ptr<float>()[0] = 3;  // does not change the version, so a copy stays as it is
    const float first = x.matmul(w).to(kFloat)[0][0].item<float>();
    w.data_ptr<float>()[0] = 1;
    autocast::clear_cache();
    return first;
  };
  autocast::set_autocast_enabled(kCPU, true);
  EXPECT_EQ(product_after_silent_change(), 2);
  autocast::set_autocast_cache_enabled(false);
  EXPECT_FALSE(autocast::is_autocast_cache_enabled());
  EXPECT_EQ(product_after_silent_change(), 4);
}

TEST_F(AutocastSwitches, RefuseOtherDtypesAndCountRegions) {
  EXPECT_THROW(autocast::set_autocast_dtype(kCPU, kFloat), std::invalid_argument);
  EXPECT_EQ(autocast::increment_nesting(), 1);
  EXPECT_EQ(autocast::increment_nesting(), 2);
  EXPECT_EQ(autocast::decrement_nesting(), 1);
  EXPECT_EQ(autocast::decrement_nesting(), 0);
}

TEST(GradModes, SetEnabledLastsUntilTheGuardEnds) {
  const Tensor x = ones({2}, requires_grad());
  {
    const NoGradGuard guard;
    GradMode::set_enabled(true);
    EXPECT_TRUE((x * 2).requires_grad());
  }
  GradMode::set_enabled(false);
  EXPECT_FALSE((x * 2).requires_grad());
  GradMode::set_enabled(true);
  EXPECT_TRUE((x * 2).requires_grad());
}

}  // namespace
}  // namespace halfgrad
