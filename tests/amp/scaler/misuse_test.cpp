#include <functional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/tests/amp/scaler/misuse.h>

/// Call sequences that train wrongly in silence elsewhere: each throws an error that names the fix.
namespace halfgrad::amp {
namespace {

struct Misuse {
  const char* what;
  std::function<void(Bench&)> before;
  std::function<void(Bench&)> wrong;
  const char* fix;
};

const Misuse kMisuses[] = {
    {"clipping by norm before unscale_", [](Bench& b) { b.backward(); },
     [](Bench& b) { nn::utils::clip_grad_norm_(b.w, 1); },
     "scaler.unscale_(optimizer) first, or clip by max_norm * scaler.get_scale() with "
     "ScaledGradients::allow"},
    {"clipping by a norm known before unscale_", [](Bench& b) { b.backward(); },
     [](Bench& b) { nn::utils::clip_grads_with_norm_({b.w}, 1, filled({}, 2)); },
     "scaler.unscale_(optimizer) first"},
    {"clipping by value before unscale_", [](Bench& b) { b.backward(); },
     [](Bench& b) { nn::utils::clip_grad_value_(b.w, 1); },
     "scaler.unscale_(optimizer) first, or clip by clip_value * scaler.get_scale() with "
     "ScaledGradients::allow"},
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
     [](Bench& b) { b.step(); },
     "one call per optimizer between updates, got a second one; call update()"},
    {"unscale_ twice",
     [](Bench& b) {
       b.backward();
       b.scaler.unscale_(b.optimizer);
     },
     [](Bench& b) { b.scaler.unscale_(b.optimizer); },
     "before step(), got one after unscale_(); call update()"},
    {"unscale_ after step",
     [](Bench& b) {
       b.backward();
       b.step();
     },
     [](Bench& b) { b.scaler.unscale_(b.optimizer); },
     "before step(), got one after step(); call update()"},
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

}  // namespace
}  // namespace halfgrad::amp
