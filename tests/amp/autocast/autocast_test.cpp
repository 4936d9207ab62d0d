#include <halfgrad/amp/autocast.h>

#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/function.h>
#include <halfgrad/tests/amp/autocast/casts.h>
#include <halfgrad/tests/devices.h>

/// Regions: their state, their nesting, and gradients through their casts.
namespace halfgrad::amp {
namespace {

struct State {
  bool enabled;
  DType dtype;
  bool cache_enabled;
  friend bool operator==(const State&, const State&) = default;
};
State state() {
  return {is_autocast_enabled(default_device_type()), get_autocast_dtype(default_device_type()),
          is_autocast_cache_enabled()};
}
constexpr State kOutside{false, kHalf, true};

// The default 16-bit dtype is float16 on every device type, unlike PyTorch's on the CPU.
TEST(Autocast, DefaultsToFloat16AndRestores) {
  EXPECT_EQ(state(), kOutside);
  {
    const Autocast autocast(default_device_type());
    EXPECT_EQ(state(), (State{true, kHalf, true}));
  }
  EXPECT_EQ(state(), kOutside);
}

TEST(Autocast, RegionsNest) {
  const Autocast outer(default_device_type(), kBFloat16, true, false);
  EXPECT_EQ(state(), (State{true, kBFloat16, false}));
  {
    const Autocast off(default_device_type(), {.enabled = false});
    EXPECT_EQ(state(), (State{false, kBFloat16, false}));
    {
      const Autocast inherited(default_device_type());
      EXPECT_EQ(state(), (State{true, kBFloat16, false}));
    }
    {
      const Autocast inner(default_device_type(), kHalf, true, true);
      EXPECT_EQ(state(), (State{true, kHalf, true}));
    }
    EXPECT_EQ(state(), (State{false, kBFloat16, false}));
  }
  EXPECT_EQ(state(), (State{true, kBFloat16, false}));
}

TEST(Autocast, OtherDeviceTypesKeepTheirState) {
  const Autocast outer(default_device_type(), kBFloat16);
  {
    const Autocast other_off(other_device_type(), kHalf, false);
    EXPECT_EQ(get_autocast_dtype(other_device_type()), kHalf);
    EXPECT_EQ(state(), (State{true, kBFloat16, true}));
    EXPECT_EQ(to_fast(weight()).dtype(), kBFloat16);
  }
  EXPECT_FALSE(is_autocast_enabled(other_device_type()));
}

TEST(Autocast, RestoresOnException) {
  try {
    const Autocast autocast(default_device_type(), kBFloat16);
    throw std::runtime_error("inside");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(state(), kOutside);
}

// A scope guard cannot be copied, and cannot be entered twice.
TEST(Autocast, IsAScopeGuard) {
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
    ::testing::internal::CaptureStderr();
    {
      const Autocast autocast(c.type, c.dtype, c.enabled);
      EXPECT_EQ(is_autocast_enabled(c.type), c.enabled && is_reduced(c.dtype));
      EXPECT_EQ(get_autocast_dtype(c.type), c.dtype);
    }
    const std::string printed = ::testing::internal::GetCapturedStderr();
    EXPECT_EQ(printed.empty(), *c.warning == '\0') << printed;
    EXPECT_NE(printed.find(c.warning), std::string::npos) << printed;
  }
}

TEST(Autocast, CudaWithoutCudaWarnsAndIsDisabled) {
  if (cuda::is_available()) GTEST_SKIP() << "this machine has CUDA";
  ::testing::internal::CaptureStderr();
  {
    const Autocast autocast(kCUDA);
    EXPECT_FALSE(is_autocast_enabled(kCUDA));
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("expected a machine with CUDA"),
            std::string::npos);
}

TEST(Autocast, StateBelongsToTheThread) {
  const Autocast autocast(default_device_type(), kBFloat16);
  std::thread([] {
    EXPECT_EQ(state(), kOutside);
    const Autocast other(default_device_type(), kHalf, true, false);
    for (int k = 0; k < 1000; ++k) EXPECT_EQ(to_fast(weight()).dtype(), kHalf);
  }).join();
  EXPECT_EQ(state(), (State{true, kBFloat16, true}));
}

TEST(Autocast, TwoThreadsMayBeInDifferentRegions) {
  const Tensor shared = weight();
  const DeviceType type = default_device_type();  // this thread's
  const auto run = [&shared, type](DType dtype) {
    for (int k = 0; k < 1000; ++k) {
      const Autocast autocast(type, dtype);
      if (to_fast(shared).dtype() != dtype) return ADD_FAILURE() << name(dtype), void();
    }
  };
  std::thread half(run, kHalf);
  std::thread bfloat(run, kBFloat16);
  half.join();
  bfloat.join();
}

// Composite ops switch the rule off while they compute, so queries then report no region.
TEST(Autocast, IsOffInsideOps) {
  const Autocast autocast(default_device_type());
  const halfgrad::detail::CastRuleScope inside_op(nullptr);
  EXPECT_EQ(state(), kOutside);
  EXPECT_EQ(to_fast(weight()).dtype(), kFloat);
}

TEST(Autocast, GradientsReturnInTheLeafsDType) {
  for (const DType fast : {kHalf, kBFloat16}) {
    for (const DType leaf_dtype : {kFloat, kHalf, kBFloat16}) {
      const Tensor leaf = filled({2}, 2, leaf_dtype).requires_grad_();
      Tensor loss;
      {
        const Autocast autocast(default_device_type(), fast);
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
  const Autocast autocast(default_device_type());
  const Tensor cast = to_fast(leaf);
  (cast * cast).sum().backward();
  EXPECT_EQ(leaf.grad().dtype(), kFloat);
  EXPECT_EQ(leaf.grad().to_vector<double>(), (std::vector<double>{4, 4}));
}

// A product saves its 16-bit operands, so the fp32 originals may change before backward.
TEST(Autocast, OpsSaveTheCastOperands) {
  for (const bool enabled : {true, false}) {
    const Tensor x = filled({2, 2}, 3).requires_grad_();
    Tensor w = filled({2, 2}, 2).requires_grad_();
    Tensor loss;
    {
      const Autocast autocast(default_device_type(), kBFloat16, enabled);
      loss = linear(x, w).sum();
    }
    {
      const NoGradGuard no_grad;
      w.fill_(5);
    }
    if (enabled) {
      loss.backward();
      EXPECT_EQ(x.grad().to_vector<double>(), std::vector<double>(4, 4));
    } else {
      EXPECT_THROW(loss.backward(), std::runtime_error);
    }
  }
}

// Each node computes in the dtype of its forward op, for a gradient of any dtype.
TEST(Autocast, BackwardRunsInTheForwardsDType) {
  const Tensor x = filled({1, 2}, 3).requires_grad_();
  const Tensor w = filled({1, 2}, 2).requires_grad_();
  Tensor hidden, y;
  {
    const Autocast autocast(default_device_type(), kBFloat16);
    hidden = linear(x, w);
    y = hidden * 1.0;
  }
  DType arrived = kFloat;
  hidden.register_hook([&](const Tensor& gradient) {
    arrived = gradient.dtype();
    return Tensor();
  });
  y.backward(filled({1, 1}, 1 + 0x1p-10));  // no bfloat16 value
  EXPECT_EQ(arrived, kBFloat16);
  EXPECT_EQ(w.grad().dtype(), kFloat);
  EXPECT_EQ(w.grad().to_vector<double>(), (std::vector<double>{3, 3}));
}

/// y = x x. Backward is a product too, and stores the autocast state in which it runs.
struct Square : autograd::Function<Square> {
  static inline State state_in_backward;
  static inline DType product;

  static Tensor forward(autograd::AutogradContext* ctx, Tensor x) {
    ctx->save_for_backward({x});
    return x * x;
  }
  static autograd::variable_list backward(autograd::AutogradContext* ctx,
                                          autograd::variable_list grads) {
    state_in_backward = state();
    const Tensor gradient = mm(grads[0], ctx->get_saved_variables()[0]) * 2;
    product = gradient.dtype();
    return {gradient};
  }
};

TEST(Autocast, BackwardRunsInTheRegionOfItsCall) {
  for (const bool inside : {false, true}) {
    const Tensor x = filled({1, 1}, 3).requires_grad_();
    Tensor y;
    {
      const Autocast forward(default_device_type(), kHalf);
      y = Square::apply(x);
    }
    const Autocast autocast(default_device_type(), kBFloat16, inside);
    y.backward();
    EXPECT_EQ(Square::state_in_backward, (State{inside, kBFloat16, true}));
    EXPECT_EQ(Square::product, inside ? kBFloat16 : kFloat);
    EXPECT_EQ(x.grad().item(), 6);
  }
}

TEST(Autocast, DoesNotCastInPlaceOpsAndExplicitDTypes) {
  const Autocast autocast(default_device_type());
  const Tensor half = filled({2, 2}, 1, kHalf);
  const struct {
    const char* what;
    Tensor result;
    DType dtype;
  } cases[] = {
      {"exp_", half.clone().exp_(), kHalf},
      {"mul_", half.clone().mul_(filled({2, 2}, 1)), kHalf},
      {"float mul_", filled({2, 2}, 1).mul_(half), kFloat},
      {"sum", sum(half, kHalf), kHalf},
      {"sum over a dimension", sum(half, {1}, false, kHalf), kHalf},
      {"prod", prod(half, kBFloat16), kBFloat16},
      {"log_softmax", log_softmax(half, 1, kHalf), kHalf},
      {"softmax to double", softmax(half, 1, kDouble), kDouble},
  };
  for (const auto& c : cases) EXPECT_EQ(c.result.dtype(), c.dtype) << c.what;
}

}  // namespace
}  // namespace halfgrad::amp
