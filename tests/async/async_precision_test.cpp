#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/optim/sgd.h>

#include <halfgrad/tests/optim/parameters.h>

/// Precision between a 16-bit model and its float32 parameters on the host.
namespace halfgrad::optim {
namespace {

using testing::bytes_of;
using testing::give_grad;
using testing::parameter;
using testing::tensor_of;
using testing::values;
using Values = std::vector<double>;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(AsyncPrecision, Float16GradientsArriveExactly) {
  Array every = Array::empty({0x10000}, DType::f16, Device());
  for (int bits = 0; bits < 0x10000; ++bits) {
    every.data_as<std::uint16_t>()[bits] = static_cast<std::uint16_t>(bits);
  }
  every = every.to(get_default_device());
  Tensor p = full({0x10000}, 0, {.dtype = DType::f16}).requires_grad_();
  SGD sgd({p}, {});
  AsyncOptimizer optimizer(sgd);
  p.set_grad(Tensor(every.clone()));
  Array arrived;
  optimizer.step([&](Optimizer& o) { arrived = o.param_groups()[0].params[0].grad().array(); },
                 /*is_async=*/false);
  ASSERT_EQ(arrived.dtype(), DType::f32);
  EXPECT_EQ(bytes_of(arrived), bytes_of(every.to(Device()).to(DType::f32)));
}

// 2048 + 1 is 2048 in float16.
TEST(AsyncPrecision, MicroBatchesAddUpInFloat32) {
  Tensor p = parameter({0}, DType::f16);
  SGD sgd({p}, {});
  AsyncOptimizer optimizer(sgd);
  Values total;
  for (const double gradient : {2048, 1, 1}) {
    give_grad(p, {gradient});
    optimizer.accumulate();
    EXPECT_FALSE(p.grad().defined());
  }
  give_grad(p, {1});
  optimizer.step([&](Optimizer& o) { total = values(o.param_groups()[0].params[0].grad()); });
  give_grad(p, {5});
  optimizer.step([&](Optimizer& o) {
    total.push_back(
        o.param_groups()[0].params[0].grad().item());  // the previous gradients are gone
  });
  optimizer.synchronize();
  EXPECT_EQ(total, (Values{2051, 5}));
}

TEST(AsyncPrecision, UpdatesTooSmallForFloat16AddUp) {
  Tensor p = parameter({1}, DType::f16);
  SGD sgd({p}, {.lr = 0x1p-13});
  AsyncOptimizer optimizer(sgd);
  for (int k = 0; k < 8; ++k) {
    give_grad(p, {1});
    optimizer.step();
  }
  optimizer.synchronize();
  EXPECT_EQ(p.item(), 1 - 0x1p-10);
}

TEST(AsyncPrecision, WriteBackRoundsToNearestEvenAndReportsOverflow) {
  const struct {
    DType dtype;
    Values exact, rounded;
    std::int64_t overflows;
  } cases[] = {
      {DType::f16,
       {1 + 0x1p-11, 1 + 0x3p-11, 1 + 0x1.002p-11, -1 - 0x1p-11, 0x1p-25, 0x1.0002p-25, 65519},
       {1, 1 + 0x1p-9, 1 + 0x1p-10, -1, 0, 0x1p-24, 65504},
       0},
      {DType::f16, {65520, -1e30, kInfinite, 1}, {kInfinite, -kInfinite, kInfinite, 1}, 2},
      {DType::bf16, {1 + 0x1p-8, 1 + 0x3p-8, 0x1.fep127}, {1, 1 + 0x1p-6, 0x1.fep127}, 0},
      {DType::bf16, {0x1.ffp127, 0x1.feffp127}, {kInfinite, 0x1.fep127}, 1},
      {DType::f32, {1 + 0x1p-23, kInfinite}, {1 + 0x1p-23, kInfinite}, 0},
  };
  for (const auto& c : cases) {
    Tensor first = parameter({1}, c.dtype);
    Tensor p = parameter(Values(c.exact.size(), 0), c.dtype);
    SGD sgd({first, p}, {.lr = 1});
    AsyncOptimizer optimizer(sgd);
    for (std::int64_t step = 1; step <= 2; ++step) {
      optimizer.step([&](Optimizer& o) {
        o.param_groups()[0].params[1].array().copy_(tensor_of(c.exact).array());
      });
      optimizer.synchronize();
      EXPECT_EQ(values(p), c.rounded) << name(c.dtype);
      EXPECT_EQ(optimizer.write_back_report().overflows, c.overflows);
      EXPECT_EQ(optimizer.write_back_report().first_parameter, c.overflows > 0 ? 1 : -1);
      EXPECT_EQ(optimizer.write_back_report().total_overflows, step * c.overflows);
    }
  }
}

}  // namespace
}  // namespace halfgrad::optim
