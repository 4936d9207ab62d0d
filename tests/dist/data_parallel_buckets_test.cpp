#include <algorithm>

#include <halfgrad/autograd/gradient_hooks.h>
#include <halfgrad/dist/parallel/gradient_bucket.h>

#include "../message_of.h"
#include "recorder.h"

namespace halfgrad::dist {
namespace {

TEST(GradientBuckets, FollowTheReverseOrderAndNeverMixDtypes) {
  const auto parameters = [](const std::vector<DType>& dtypes, std::int64_t size) {
    std::vector<Tensor> all;
    for (const DType dtype : dtypes) all.push_back(zeros({size}, TensorOptions(dtype)));
    return all;
  };
  using Buckets = std::vector<std::vector<std::size_t>>;
  const DType f = kFloat32, h = kFloat16;
  EXPECT_EQ(detail::assign_buckets(parameters({f, f, f, f, f}, 10), 80),
            (Buckets{{4, 3}, {2, 1}, {0}}));
  EXPECT_EQ(detail::assign_buckets(parameters({f, h, f, h, f}, 10), 80),
            (Buckets{{4, 2}, {3, 1}, {0}}));
  EXPECT_EQ(detail::assign_buckets(parameters({f, f}, 10), 1), (Buckets{{1}, {0}}));
  EXPECT_EQ(detail::assign_buckets(parameters({f, f, f}, 1 << 18), 1 << 30),
            (Buckets{{2}, {1, 0}}));  // the first is full at 1 MiB
  EXPECT_EQ(detail::assign_buckets({}, 1), Buckets());
}

TEST(GradientBuckets, StartTheirCollectivesWhileBackwardRuns) {
  const auto all = record(
      2, [] { return make_net(); }, {.bucket_bytes = 1},
      [](auto& model, Events& events, Communicator& c) {
        const Tensor first = model.parameters()[0];
        first.register_hook([&](const Tensor&) { events.push_back("first"); });
        sum(model(Batch::make().part(c).x)).backward();
        events.push_back("end");
      });
  // Biases of 3, 20 and 20 elements, padded to 64 bytes; weights of 60, 400 and 120.
  const Events expected{"all_reduce 16 float32",
                        "all_reduce 64 float32",
                        "all_reduce 32 float32",
                        "all_reduce 400 float32",
                        "first",
                        "all_reduce 32 float32",
                        "all_reduce 128 float32",
                        "end"};
  for (Events events : all) {
    const auto position = std::find(events.begin(), events.end(), "first") - events.begin();
    EXPECT_GE(position, 4) << "collectives before the last gradient";
    std::erase(events, "first");
    Events order = expected;
    std::erase(order, "first");
    EXPECT_EQ(events, order);
  }
}

TEST(GradientBuckets, HaveOneOrderOnRanksWhoseGradientsHaveAnother) {
  for (int repeat = 0; repeat < 20; ++repeat) {
    const auto all = record(
        3, [] { return Either(); }, {.bucket_bytes = 1},
        [](auto& model, Events& events, Communicator& c) {
          model(c.rank() == 1, c.rank() + 1).backward();
          for (const Tensor& gradient : gradients_of(model)) {
            EXPECT_EQ(gradient[99].item(), 2);
          }
          EXPECT_EQ(events.size(), 3);
        });
    EXPECT_EQ(all[1], all[0]);
    EXPECT_EQ(all[2], all[0]);
    EXPECT_EQ(all[0][0], "all_reduce 304 float32");
  }
}

TEST(GradientBuckets, KeepTheirMemoryFromStepToStep) {
  record(
      2, [] { return make_net(); }, {},
      [](auto& model, Events&, Communicator& c) {
        const Batch part = Batch::make().part(c);
        optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
        amp::GradScaler scaler;
        std::vector<const std::byte*> first;
        for (int step = 0; step < 6; ++step) {
          optimizer.zero_grad(step % 3 != 1);
          scaler.scale(mse_loss(model(part.x), part.y)).backward();
          std::vector<const std::byte*> now;
          for (const Tensor& gradient : gradients_of(model)) now.push_back(gradient.array().data());
          if (step == 0) first = now;
          EXPECT_EQ(now, first) << "step " << step;
          nn::utils::clip_grad_norm_(model.parameters(), 1e6, 2, false,
                                     nn::utils::ScaledGradients::allow);
          scaler.step(optimizer);
          scaler.update();
        }
        // All in one flat array, in the reverse order, 64 bytes aligned.
        EXPECT_EQ(first[4], first[5] + 64);
        EXPECT_EQ(first[3], first[4] + 256);
      });
}

TEST(GradientBuckets, CopyAGradientThatTheUserHasReplaced) {
  record(
      2, [] { return Either(); }, {},
      [](auto& model, Events&, Communicator& c) {
        const Tensor& a = model.module().a;
        model(true, c.rank() + 1).backward();
        a.set_grad(full({100}, 10.0 * c.rank()));
        model(true, c.rank() + 1).backward();
        EXPECT_EQ(a.grad()[0].item(), 1.5 + 5);
        EXPECT_EQ(model.module().b.grad()[0].item(), 1.5 + 1.5);
      });
}

TEST(GradientBuckets, LeaveAGradientThatIsHeldItsValues) {
  record(
      2, [] { return Either(); }, {},
      [](auto& model, Events&, Communicator& c) {
        model(true, c.rank() + 1).backward();
        const Tensor held = model.module().a.grad();
        model.zero_grad();
        model(true, 10 * (c.rank() + 1)).backward();
        EXPECT_EQ(held[0].item(), 1.5);
        EXPECT_EQ(model.module().a.grad()[0].item(), 15);
        EXPECT_EQ(model.module().b.grad()[0].item(), 15);
      });
}

TEST(GradientBuckets, HaveAScaleIdForEachGradient) {
  record(
      1, [] { return make_net(); }, {},
      [](auto& model, Events&, Communicator& c) {
        amp::GradScaler scaler;
        scaler.scale(sum(model(Batch::make().part(c).x))).backward();
        for (const Tensor& parameter : model.parameters()) {
          EXPECT_THROW(nn::utils::clip_grad_norm_({parameter}, 1), std::runtime_error);
        }
      });
}

TEST(GradientBuckets, WorkAgainAfterAPassThatThrew) {
  record(
      2, [] { return make_net(); }, {.bucket_bytes = 1},
      [](auto& model, Events&, Communicator& c) {
        const Batch part = Batch::make().part(c);
        HookHandle bad = model.parameters()[1].register_hook(
            [](const Tensor&) { throw std::runtime_error("from a hook"); });
        EXPECT_EQ(message_of([&] { sum(model(part.x)).backward(); }), "from a hook");
        bad.remove();
        model.zero_grad();
        mse_loss(model(part.x), part.y).backward();
        const auto got = values_of(gradients_of(model));
        model.zero_grad();
        mse_loss(model(part.x), part.y).backward();
        EXPECT_EQ(values_of(gradients_of(model)), got);
      });
}

}  // namespace
}  // namespace halfgrad::dist
