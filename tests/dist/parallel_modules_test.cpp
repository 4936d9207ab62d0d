#include <limits>

#include "../message_of.h"
#include "recorder.h"

namespace halfgrad::dist {
namespace {

TEST(ParallelModules, SendGradientsInTheGradientDtype) {
  for (const DType dtype : {kFloat16, kBFloat16}) {
    const auto all = record(
        3, [] { return Either(); }, {.gradient_dtype = dtype},
        [&](auto& model, Events&, Communicator& c) {
          const auto value = [](int rank) { return 1.0 / 3 + rank; };
          model(true, value(c.rank())).backward();
          const auto rounded = [&](double x) {
            const Tensor exact = full({}, x).to(dtype);
            return static_cast<float>(exact.item());
          };
          const float total = rounded(value(0)) + rounded(value(1)) + rounded(value(2));
          EXPECT_EQ(model.module().a.grad().dtype(), kFloat32);
          EXPECT_EQ(model.module().a.grad()[5].item(), rounded(total / 3));
        });
    EXPECT_EQ(all[0], (Events{"all_reduce 624 " + std::string(name(dtype))}));
  }
}

TEST(ParallelModules, HaveInfiniteGradientsOnEveryRankWhenOneOverflowsOnTheWay) {
  record(
      3, [] { return Either(); }, {.gradient_dtype = kFloat16},
      [](auto& model, Events&, Communicator& c) {
        optim::SGD optimizer(model.parameters(), {.lr = 1});
        amp::GradScaler scaler({.init_scale = 1024});
        scaler.scale(model(true, c.rank() == 1 ? 100 : 1)).backward();
        EXPECT_EQ(model.module().a.grad()[0].item(), std::numeric_limits<double>::infinity());
        EXPECT_TRUE(scaler.step(optimizer).skipped());
        scaler.update();
        EXPECT_EQ(scaler.get_scale(), 512);
      });
}

TEST(ParallelModules, Average16BitAndDoubleGradientsInTheirDtype) {
  for (const DType dtype : {kFloat16, kBFloat16, kFloat64}) {
    const auto make = [&] {
      Either module;
      module.to(dtype);
      return module;
    };
    record(2, make, {.gradient_dtype = kBFloat16},
           [&](auto& model, Events& events, Communicator& c) {
             model(true, c.rank() + 1).backward();
             EXPECT_EQ(model.module().a.grad().dtype(), dtype);
             EXPECT_EQ(model.module().a.grad()[0].item(), 1.5);
             EXPECT_NE(events[0].find(name(dtype)), std::string::npos);
           });
  }
}

TEST(ParallelModules, MayBeFrozenThawedOrConverted) {
  record(
      2, [] { return Either(); }, {},
      [](auto& model, Events& events, Communicator& c) {
        const Either& module = model.module();
        const Tensor loss = model(true, c.rank() + 1);
        module.b.requires_grad_(false);
        loss.backward();  // frozen since the forward pass
        EXPECT_FALSE(module.b.grad().defined());
        EXPECT_EQ(module.a.grad()[0].item(), 1.5);
        model.zero_grad();
        events.clear();
        model(true, c.rank() + 1).backward();
        EXPECT_EQ(events, Events{"all_reduce 416 float32"});
        EXPECT_EQ(module.c.grad()[0].item(), 1.5);
        module.b.requires_grad_(true);
        model.zero_grad();
        model(true, c.rank() + 1).backward();
        EXPECT_EQ(module.b.grad()[0].item(), 1.5);
        model.to(kFloat64);
        model.zero_grad();
        events.clear();
        model(true, c.rank() + 1).backward();
        EXPECT_EQ(module.b.grad()[0].item(), 1.5);
        EXPECT_EQ(events, Events{"all_reduce 608 float64"});
        model.register_parameter("d", full({1}, 1.0));
        EXPECT_NE(
            message_of([&] { model(true, 1); }).find("make a new DataParallel after changing"),
            std::string::npos);
      });
}

TEST(ParallelModules, KeepGradientsOnTheirDevice) {
  const Device second(kCPU, 1);
  const auto make = [&] {
    Either module;
    module.to(second);
    return module;
  };
  record(2, make, {.find_unused_parameters = true, .gradient_dtype = kBFloat16},
         [&](auto& model, Events&, Communicator& c) {
           model(true, c.rank() + 1).backward();
           EXPECT_EQ(model.module().a.grad().device(), second);
           EXPECT_EQ(model.module().a.grad()[0].item(), 1.5);
         });
}

TEST(ParallelModules, BroadcastBuffersInTrainingModeOnly) {
  const auto make = [] { return nn::BatchNorm1d(3); };
  for (const bool is_on : {true, false}) {
    record(2, make, {.broadcast_buffers = is_on},
           [&](auto& model, Events& events, Communicator& c) {
             const auto forward = [&] { return model(full({2, 3}, c.rank() + 1.0)); };
             const auto first = [&] { return model.buffers()[0][0].item(); };  // running mean
             sum(forward()).backward();
             EXPECT_NEAR(first(), 0.1 * (c.rank() + 1), 1e-6) << "rank " << c.rank();
             model.eval();
             events.clear();
             forward();
             EXPECT_EQ(events, Events());
             model.train();
             {
               const NoSync guard = model.no_sync();
               forward();
               EXPECT_EQ(events, Events());
             }
             const double own = 0.1 * (c.rank() + 1), second = own * 0.9 + own;
             EXPECT_NEAR(first(), second, 1e-6);
             forward();
             EXPECT_EQ(events.size(), is_on ? 2 : 0) << "float32 and int64";
             EXPECT_NEAR(first(), 0.9 * (is_on ? 0.1 * 1.9 : second) + own, 1e-6);
           });
  }
}

}  // namespace
}  // namespace halfgrad::dist
