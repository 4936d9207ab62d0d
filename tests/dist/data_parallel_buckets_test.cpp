#include <algorithm>
#include <limits>

#include <halfgrad/autograd/gradient_hooks.h>
#include <halfgrad/dist/parallel/gradient_bucket.h>

#include "../message_of.h"
#include "parallel_training.h"

namespace halfgrad::dist {
namespace {

// Notes each collective before it starts, with the sizes of its array.
class Recorder final : public Communicator {
 public:
  Recorder(Communicator& inner, std::vector<std::string>& events)
      : inner_(inner), events_(events) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  std::string name_of(int rank) const override { return inner_.name_of(rank); }
  Work all_reduce(const Array& array, ReduceOp op) override {
    events_.push_back("all_reduce " + std::to_string(array.numel()) + ' ' +
                      std::string(name(array.dtype())));
    return inner_.all_reduce(array, op);
  }
  Work reduce_scatter(const Array& output, const Array& input, ReduceOp op) override {
    return inner_.reduce_scatter(output, input, op);
  }
  Work all_gather(const Array& output, const Array& input) override {
    return inner_.all_gather(output, input);
  }
  Work broadcast(const Array& array, int root) override {
    events_.push_back("broadcast " + std::to_string(array.numel()));
    return inner_.broadcast(array, root);
  }
  void barrier() override { inner_.barrier(); }

 private:
  Communicator& inner_;
  std::vector<std::string>& events_;
};

using Events = std::vector<std::string>;

// Runs f(model, events, communicator) on each rank; returns the events by rank.
template <class Make, class F>
std::vector<Events> record(int ranks, const Make& make, const DataParallelOptions& options,
                           const F& f) {
  return on_models(ranks, make, [&](Communicator& c, const auto& module) {
    Events events;
    DataParallel model(module, std::make_shared<Recorder>(c, events), options);
    events.clear();
    f(model, events, c);
    return events;
  });
}

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

// The order in which a rank's backward completes the gradients.
struct Either : nn::Callable<Either> {
  Tensor a = register_parameter("a", full({100}, 1.0));
  Tensor b = register_parameter("b", full({200}, 1.0));
  Tensor c = register_parameter("c", full({300}, 1.0));
  Tensor forward(bool a_first, double x) const {
    const auto use = [x](const Tensor& w) { return sum(w * x); };
    if (a_first) {
      const Tensor of_c = use(c), of_b = use(b);
      return of_c + of_b + use(a);
    }
    const Tensor of_a = use(a), of_b = use(b);
    return of_a + of_b + use(c);
  }
};

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

TEST(GradientBuckets, TravelInTheGradientDtype) {
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

TEST(GradientBuckets, AreInfiniteOnEveryRankWhenOneOverflowsOnTheWay) {
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

TEST(GradientBuckets, Hold16BitAndDoubleGradientsInTheirDtype) {
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

TEST(GradientBuckets, FollowParametersThatAreFrozenThawedOrConverted) {
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

TEST(GradientBuckets, AreOnTheDeviceOfTheirParameters) {
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

TEST(GradientBuckets, BroadcastBuffersInTrainingModeOnly) {
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
