#include <cstddef>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/scaler/misuse.h>

/// Right sequences that resemble those of misuse_test.cpp; those that may be wrong warn.
namespace halfgrad::amp {
namespace {

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

TEST(RightUse, EveryWayToDropGradientsIsAccepted) {
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

TEST(RightUse, PlainGradientsMayBeAddedToUnscaledOnes) {
  Bench bench;
  bench.backward();
  bench.scaler.unscale_(bench.optimizer);
  (sum(bench.w) * 2).backward();
  nn::utils::clip_grad_value_(bench.w, 100);
  bench.step();
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{1 - 0.25 * 4, -3 + 0.25 * 4}));
}

// A user may have multiplied by the scale, or have forgotten to: there is one warning.
TEST(RightUse, GradientsThatNoScalerScaledWarnOnce) {
  for (const bool unscale : {false, true}) {
    Bench bench;
    bench.scaler = started({.init_scale = 8});
    ::testing::internal::CaptureStderr();
    for (int batch = 0; batch < 2; ++batch) {
      (sum(bench.w * bench.w) * bench.scaler.get_scale()).backward();
    }
    if (unscale) bench.scaler.unscale_(bench.optimizer);
    bench.step();
    EXPECT_EQ(bench.w.to_vector<double>(), (Values{0, 0}));
    bench.update();
    bench.optimizer.zero_grad();
    sum(bench.w).backward();
    bench.step();
    bench.update();
    EXPECT_EQ(::testing::internal::GetCapturedStderr(),
              std::string("halfgrad: warning: ") + (unscale ? "unscale_" : "step") +
                  ": expected gradients of a scaled loss, got some of a loss that no scaler "
                  "scaled; they are divided by the scale all the same. Call "
                  "scaler.scale(loss).backward(); a loss multiplied by get_scale() is fine\n");
    bench.optimizer.zero_grad();
    EXPECT_NO_THROW(bench.iteration());
  }
}

// No warning for gradients that backward did not make, those of a scaled loss, or a disabled
// scaler.
TEST(RightUse, OtherGradientsDoNotWarnOfAForgottenScale) {
  ::testing::internal::CaptureStderr();
  for (const bool unscale : {false, true}) {
    Bench bench;
    bench.iteration();
    bench.w.set_grad(vector_of({1, 1}));
    if (unscale) bench.scaler.unscale_(bench.optimizer);
    bench.step();
    bench.update();
    bench.optimizer.zero_grad();
    bench.backward();
    bench.scaler.unscale_(bench.optimizer);
    (sum(bench.w) * 2).backward();  // joins gradients that are unscaled already
    bench.step();
    bench.update();
    bench.scaler = GradScaler({.enabled = false});
    bench.optimizer.zero_grad();
    sum(bench.w).backward();
    bench.step();
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

// The message of a refused clip names this way: a limit that is scaled like the gradients.
TEST(RightUse, ScaledGradientsMayBeClippedByAScaledLimit) {
  using namespace nn::utils;
  const std::function<void(Bench&, double)> clips[] = {
      [](Bench& b, double max_norm) {
        clip_grad_norm_(b.w, max_norm, 2, false, ScaledGradients::allow);
      },
      [](Bench& b, double max_norm) {
        clip_grads_with_norm_({b.w}, max_norm, get_total_norm({b.w.grad()}),
                              ScaledGradients::allow);
      },
      [](Bench& b, double limit) { clip_grad_value_(b.w, limit, ScaledGradients::allow); },
  };
  for (std::size_t i = 0; i < std::size(clips); ++i) {
    Bench scaled, unscaled;
    scaled.backward();
    clips[i](scaled, 2 * scaled.scaler.get_scale());
    EXPECT_EQ(message_of([&] { scaled.optimizer.step(); }).substr(0, 5), "step:");  // still scaled
    scaled.step();
    unscaled.backward();
    unscaled.scaler.unscale_(unscaled.optimizer);
    clips[i](unscaled, 2);
    unscaled.step();
    const Values got = scaled.w.to_vector<double>(), expected = unscaled.w.to_vector<double>();
    // The 1e-6 that is added to the norm is not scaled; it changes the coefficient by less than
    // 1e-6.
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(got[k], expected[k], 1e-6);
    EXPECT_NE(got, (Values{0.5, -1.5}));  // without clipping
  }
}

TEST(RightUse, UnscaledGradientsMayBeUsedByAPlainStep) {
  Bench bench;
  bench.backward();
  bench.scaler.unscale_(bench.optimizer);
  bench.optimizer.step();
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{0.5, -1.5}));
}

TEST(RightUse, OneBackwardPassMayServeSeveralScalers) {
  Bench bench;
  GradScaler second = started({.init_scale = 4});
  (bench.scaler.scale(sum(bench.w * bench.w)) + second.scale(sum(bench.v * bench.v))).backward();
  bench.scaler.step(bench.optimizer);
  second.step(bench.other);
  EXPECT_EQ(bench.w.to_vector<double>(), (Values{0.5, -1.5}));
  EXPECT_EQ(bench.v.to_vector<double>(), Values{1});
}

TEST(RightUse, NestedBackwardPassesKeepTheirScales) {
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

// A user's checkpoint does this: the inner pass begins with the scaled gradient of the outer one.
TEST(RightUse, NestedBackwardPassesMayReachTheSameParameters) {
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
