#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/trained.h>

/// Sequences that would train wrongly without a word elsewhere, each an error that names the fix;
/// and their neighbours that are right.
namespace halfgrad::amp {
namespace {

/// Two optimizers and a scaler on loss(w) = sum(w^2), whose gradient is 2 w.
struct Bench {
  Tensor w = vector_of({1, -3}).requires_grad_();
  Tensor v = vector_of({2}).requires_grad_();
  optim::SGD optimizer{{w}, {.lr = 0.25}};
  optim::SGD other{{v}, {.lr = 0.25}};
  GradScaler scaler{{.init_scale = 8}};

  void backward(double factor = 1) { scaler.scale(sum(w * w) * factor).backward(); }
  void step() { scaler.step(optimizer); }
  void update() { scaler.update(); }
  void iteration(double factor = 1) {
    backward(factor);
    step();
    update();
  }
};

struct Misuse {
  const char* what;
  std::function<void(Bench&)> before;
  std::function<void(Bench&)> wrong;
  const char* fix;
};

const Misuse kMisuses[] = {
    {"clipping by norm before unscale_", [](Bench& b) { b.backward(); },
     [](Bench& b) { nn::utils::clip_grad_norm_(b.w, 1); }, "scaler.unscale_(optimizer) first"},
    {"clipping by a norm known before unscale_", [](Bench& b) { b.backward(); },
     [](Bench& b) { nn::utils::clip_grads_with_norm_({b.w}, 1, filled({}, 2)); },
     "scaler.unscale_(optimizer) first"},
    {"clipping by value before unscale_", [](Bench& b) { b.backward(); },
     [](Bench& b) { nn::utils::clip_grad_value_(b.w, 1); }, "scaler.unscale_(optimizer) first"},
    {"update inside an accumulation window",
     [](Bench& b) {
       b.backward();
       b.scaler.scale(sum(b.v)).backward();
       b.scaler.step(b.other);
       b.update();
       b.backward();
     },
     [](Bench& b) { b.step(); }, "update() not before the last step()"},
    {"update between backward and step",
     [](Bench& b) {
       b.backward();
       b.scaler.update(16.0);
     },
     [](Bench& b) { b.step(); }, "call update() after the step"},
    {"a plain loss added to a scaled one",
     [](Bench& b) {
       b.backward();
       sum(b.w).backward();
     },
     [](Bench& b) { b.scaler.unscale_(b.optimizer); }, "scale() every loss"},
    {"a scaled loss added to a plain one",
     [](Bench& b) {
       sum(b.w).backward();
       b.backward();
     },
     [](Bench& b) { b.step(); }, "scale() every loss"},
    {"a scaled loss added to a plain step's gradients",
     [](Bench& b) {
       sum(b.w).backward();
       b.optimizer.step();
       b.backward();
     },
     [](Bench& b) { b.step(); }, "zero_grad() after each step"},
    {"a plain step with scaled gradients", [](Bench& b) { b.backward(); },
     [](Bench& b) { b.optimizer.step(); }, "call scaler.step(optimizer)"},
    {"no zero_grad after a step",
     [](Bench& b) {
       b.iteration();
       b.backward();
     },
     [](Bench& b) { b.step(); }, "zero_grad() after each step"},
    {"no zero_grad after a clipped step",
     [](Bench& b) {
       b.backward();
       b.scaler.unscale_(b.optimizer);
       nn::utils::clip_grad_norm_(b.w, 1);
       b.step();
       b.update();
       b.backward();
     },
     [](Bench& b) { b.step(); }, "zero_grad() after each step"},
    {"stale NaN gradients of a skipped step",
     [](Bench& b) {
       b.iteration(kInfinite);
       b.backward();
     },
     [](Bench& b) { b.step(); }, "a skipped one too"},
    {"a step without a new backward", [](Bench& b) { b.iteration(); }, [](Bench& b) { b.step(); },
     "backward() on a scaled loss"},
    {"backward after unscale_",
     [](Bench& b) {
       b.backward();
       b.scaler.unscale_(b.optimizer);
       b.backward();
     },
     [](Bench& b) { b.step(); }, "unscale_() after the last backward()"},
    {"another scaler's gradients",
     [](Bench& b) {
       b.backward();
       b.scaler = started();
     },
     [](Bench& b) { b.step(); }, "the scaler that scaled the loss"},
    {"a parameter of two optimizers, which torch divides by the scale twice",
     [](Bench& b) {
       b.other.add_param_group({.params = {b.w}});
       b.backward();
       b.step();
     },
     [](Bench& b) { b.scaler.step(b.other); }, "got some that were unscaled before"},
    {"step twice",
     [](Bench& b) {
       b.backward();
       b.step();
     },
     [](Bench& b) { b.step(); }, "one call per optimizer between updates"},
    {"unscale_ twice",
     [](Bench& b) {
       b.backward();
       b.scaler.unscale_(b.optimizer);
     },
     [](Bench& b) { b.scaler.unscale_(b.optimizer); }, "one call per optimizer between updates"},
    {"update without a check", [](Bench& b) { b.backward(); }, [](Bench& b) { b.update(); },
     "unscaled or stepped"},
    {"an optimizer without gradients", [](Bench& b) { b.backward(); },
     [](Bench& b) { b.scaler.step(b.other); }, "call backward() on the scaled loss first"},
};

TEST(Misuse, ThrowsNamingTheFixAndChangesNothing) {
  for (const Misuse& misuse : kMisuses) {
    SCOPED_TRACE(misuse.what);
    Bench bench;
    misuse.before(bench);
    const Values weights = bench.w.to_vector<double>();
    const Values gradient = bench.w.grad().to_vector<double>();
    const double scale = bench.scaler.get_scale();
    const std::string text = message_of<std::runtime_error>([&] { misuse.wrong(bench); });
    EXPECT_NE(text.find(misuse.fix), std::string::npos) << text;
    EXPECT_EQ(bench.w.to_vector<double>(), weights);
    expect_same(bench.w.grad().to_vector<double>(), gradient);
    EXPECT_EQ(bench.scaler.get_scale(), scale);
  }
}

const std::pair<const char*, std::function<void(Bench&)>> kRight[] = {
    {"zero_grad", [](Bench& b) { b.optimizer.zero_grad(); }},
    {"zero_grad, in place", [](Bench& b) { b.optimizer.zero_grad(false); }},
    {"zeros by hand", [](Bench& b) { b.w.grad().zero_(); }},
    {"a gradient by hand",
     [](Bench& b) {
       b.w.set_grad(vector_of({0, 0}));
     }},
    {"another's backward, dropped before one's own",
     [](Bench& b) {
       b.scaler.scale(sum(b.w) * sum(b.v)).backward();
       b.scaler.step(b.other);
       b.scaler.update();
       b.optimizer.zero_grad();
     }},
};

TEST(Misuse, EveryWayToStartAfreshIsRight) {
  for (const auto& [what, start_afresh] : kRight) {
    for (const double first : {1.0, kInfinite}) {
      SCOPED_TRACE(what);
      Bench bench;
      bench.iteration(first);
      start_afresh(bench);
      const double before = bench.w.to_vector<double>()[0];
      EXPECT_NO_THROW(bench.iteration());
      EXPECT_EQ(bench.w.to_vector<double>()[0], before / 2);  // w -= lr * 2 w
    }
  }
}

TEST(Misuse, PlainGradientsMayJoinUnscaledOnes) {
  Bench bench;
  bench.backward();
  bench.scaler.unscale_(bench.optimizer);
  (sum(bench.w) * 2).backward();
  nn::utils::clip_grad_value_(bench.w, 100);
  bench.step();
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{1 - 0.25 * 4, -3 + 0.25 * 4}));
}

// They may have multiplied by the scale themselves.
TEST(Misuse, GradientsThatNoScalerScaledAreTheUsersAffair) {
  for (const bool unscale : {false, true}) {
    Bench bench;
    bench.scaler = started({.init_scale = 8});
    for (int batch = 0; batch < 2; ++batch) {
      (sum(bench.w * bench.w) * bench.scaler.get_scale()).backward();
    }
    if (unscale) bench.scaler.unscale_(bench.optimizer);
    bench.step();
    EXPECT_EQ(bench.w.to_vector<double>(), (Values{0, 0}));
    bench.update();
    bench.optimizer.zero_grad();
    EXPECT_NO_THROW(bench.iteration());
  }
}

TEST(Misuse, UnscaledGradientsMayBeSteppedPlainly) {
  Bench bench;
  bench.backward();
  bench.scaler.unscale_(bench.optimizer);
  bench.optimizer.step();
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{0.5, -1.5}));
}

TEST(Misuse, OneBackwardOfSeveralScalersIsRight) {
  Bench bench;
  GradScaler second = started({.init_scale = 4});
  (bench.scaler.scale(sum(bench.w * bench.w)) + second.scale(sum(bench.v * bench.v))).backward();
  bench.scaler.step(bench.optimizer);
  second.step(bench.other);
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{0.5, -1.5}));
  EXPECT_EQ(bench.v.to_vector<double>(), Values{1});
}

TEST(Misuse, PassesInsidePassesKeepTheirScales) {
  Bench bench;
  const Tensor inner = vector_of({5}).requires_grad_();
  const Tensor product = sum(bench.w * bench.w);
  product.register_hook([&](const Tensor&) {
    const EnableGradGuard record;
    sum(inner * inner).backward();
    return Tensor();
  });
  bench.scaler.scale(product).backward();
  EXPECT_NO_THROW(nn::utils::clip_grad_norm_(inner, 1));
  EXPECT_THROW(nn::utils::clip_grad_norm_(bench.w, 1), std::runtime_error);
}

// As a user's checkpoint does: the pass inside begins with the scaled gradient of the one outside.
TEST(Misuse, PassesInsidePassesMayReachTheSameParameters) {
  Bench bench;
  const Tensor part = bench.w.detach().requires_grad_();
  part.register_hook([&](const Tensor& grad) {
    const EnableGradGuard record;
    (bench.w * 1).backward(grad);
    return Tensor();
  });
  for (int batch = 0; batch < 2; ++batch) {
    bench.scaler.scale(sum(part * part) + sum(bench.w * bench.w)).backward();
  }
  EXPECT_NO_THROW(bench.step());
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{-1, 3}));  // w - 0.25 * 2 * (2 w + 2 w)
}

}  // namespace
}  // namespace halfgrad::amp
