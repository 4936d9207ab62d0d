#include <halfgrad/amp/grad_scaler.h>

#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/optim/adam.h>
#include <halfgrad/optim/sgd.h>

namespace halfgrad::amp {
namespace {

using Values = std::vector<double>;
constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor full(const Shape& sizes, double value, DType dtype = kFloat) {
  return Tensor(Array::full(sizes, value, dtype));
}

Tensor tensor(const Values& values, DType dtype = kFloat) {
  const Array result = Array::empty({static_cast<std::int64_t>(values.size())}, kDouble);
  std::copy(values.begin(), values.end(), result.data_as<double>());
  return Tensor(result.to(dtype).clone());
}

/// A parameter of ones with this gradient, an SGD with lr 1 that owns it.
struct Trained {
  explicit Trained(const Values& gradient, DType dtype = kFloat,
                   optim::SGDOptions options = {.lr = 1})
      : param(full({static_cast<std::int64_t>(gradient.size())}, 1, dtype).requires_grad_()),
        optimizer({param}, options) {
    set(gradient);
  }
  void set(const Values& gradient) { param.set_grad(tensor(gradient, param.dtype())); }
  Values value() const { return param.to_vector<double>(); }
  Values gradient() const { return param.grad().to_vector<double>(); }

  Tensor param;
  optim::SGD optimizer;
};

/// A scaler that has its scale, as after a first loss.
GradScaler started(const GradScalerOptions& options = {.init_scale = 4}) {
  GradScaler scaler(options);
  scaler.scale(full({}, 1));
  return scaler;
}

template <class Error>
std::string message(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

void expect_same(const Values& got, const Values& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(got[i] == expected[i] || (std::isnan(got[i]) && std::isnan(expected[i])))
        << "element " << i << ": " << got[i] << ", expected " << expected[i];
  }
}

// --- scale() ---

TEST(GradScaler, ScaledTypeFollowsPromotion) {
  const struct {
    DType dtype;
    Shape sizes;
    double value;
    DType scaled_dtype;
    double scaled;
  } cases[] = {
      {kFloat, {}, 2, kFloat, 131072},       {kHalf, {}, 1, kFloat, 65536},
      {kHalf, {2}, 1, kHalf, kInfinite},     {kBFloat16, {}, 1, kFloat, 65536},
      {kBFloat16, {2}, 1, kBFloat16, 65536}, {kDouble, {}, 1, kDouble, 65536},
      {kDouble, {2}, 1, kDouble, 65536},     {kLong, {}, 3, kFloat, 196608},
      {kLong, {2}, 3, kFloat, 196608},       {kBool, {}, 1, kFloat, 65536},
  };
  for (const auto& c : cases) {
    GradScaler scaler;
    const Tensor scaled = scaler.scale(full(c.sizes, c.value, c.dtype));
    EXPECT_EQ(scaled.dtype(), c.scaled_dtype) << name(c.dtype);
    EXPECT_EQ(scaled.to_vector<double>()[0], c.scaled) << name(c.dtype);
  }
}

TEST(GradScaler, ScaleIsDifferentiable) {
  GradScaler scaler({.init_scale = 1024});
  Tensor x = full({3}, 2).requires_grad_();
  scaler.scale((x * x).sum()).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Values{4096, 4096, 4096}));
}

TEST(GradScaler, ScalesLists) {
  GradScaler scaler({.init_scale = 2});
  const std::vector<Tensor> scaled = scaler.scale(std::vector{full({}, 1), full({2}, 3, kDouble)});
  ASSERT_EQ(scaled.size(), 2);
  EXPECT_EQ(scaled[0].item(), 2);
  EXPECT_EQ(scaled[1].to_vector<double>(), (Values{6, 6}));
  EXPECT_EQ(scaled[1].dtype(), kDouble);
}

TEST(GradScaler, RefusesAnUndefinedTensor) {
  GradScaler scaler;
  EXPECT_THROW(scaler.scale(Tensor()), std::invalid_argument);
}

TEST(GradScaler, NeedsAScaledLossFirst) {
  GradScaler scaler;
  Trained trained({1});
  EXPECT_TRUE(scaler.scale(std::vector<Tensor>()).empty());  // does not count
  const std::function<void()> calls[] = {
      [&] { scaler.unscale_(trained.optimizer); }, [&] { scaler.step(trained.optimizer); },
      [&] { scaler.update(); }, [&] { scaler.update(3.0); }, [&] { scaler.update(full({}, 3)); }};
  for (const auto& call : calls) {
    EXPECT_NE(message<std::runtime_error>(call).find("scale()"), std::string::npos);
  }
  EXPECT_EQ(trained.gradient(), Values{1});
}

// --- Construction ---

TEST(GradScaler, Defaults) {
  const GradScaler scaler;
  EXPECT_EQ(scaler.get_scale(), 65536);
  EXPECT_EQ(scaler.get_growth_factor(), 2);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.5);
  EXPECT_EQ(scaler.get_growth_interval(), 2000);
  EXPECT_EQ(scaler.get_growth_tracker(), 0);
  EXPECT_TRUE(scaler.is_enabled());
  static_assert(!std::is_copy_constructible_v<GradScaler>);
}

struct BadOptions {
  const char* names;
  GradScalerOptions options;
};
const BadOptions kBadOptions[] = {
    {"growth_factor", {.growth_factor = 1}},
    {"growth_factor", {.growth_factor = -2}},
    {"growth_factor", {.growth_factor = kNaN}},
    {"growth_factor", {.growth_factor = kInfinite}},
    {"backoff_factor", {.backoff_factor = 1}},
    {"backoff_factor", {.backoff_factor = 0}},
    {"backoff_factor", {.backoff_factor = -0.5}},
    {"backoff_factor", {.backoff_factor = kNaN}},
    {"growth_interval", {.growth_interval = 0}},
    {"growth_interval", {.growth_interval = -1}},
    {"init_scale", {.init_scale = 0}},
    {"init_scale", {.init_scale = -1}},
    {"init_scale", {.init_scale = kNaN}},
    {"init_scale", {.init_scale = kInfinite}},
    {"init_scale", {.init_scale = 1e39}},   // infinite in float32
    {"init_scale", {.init_scale = 1e-46}},  // zero in float32
    {"min_scale", {.min_scale = -1}},
    {"min_scale", {.min_scale = kNaN}},
    {"min_scale", {.init_scale = 1, .min_scale = 2}},
    {"max_scale", {.max_scale = 0}},
    {"max_scale", {.init_scale = 4, .max_scale = 2}},
    {"hysteresis", {.hysteresis = 0}},
};

TEST(GradScaler, RejectsBadOptionsByName) {
  for (const BadOptions& bad : kBadOptions) {
    const std::string text = message<std::invalid_argument>([&] { GradScaler{bad.options}; });
    EXPECT_NE(text.find(bad.names), std::string::npos) << text;
    GradScalerOptions disabled = bad.options;
    disabled.enabled = false;
    EXPECT_NO_THROW(GradScaler{disabled});
  }
}

TEST(GradScaler, SettersValidateToo) {
  GradScaler scaler;
  scaler.set_growth_factor(3);
  scaler.set_backoff_factor(0.25);
  scaler.set_growth_interval(7);
  EXPECT_THROW(scaler.set_growth_factor(1), std::invalid_argument);
  EXPECT_THROW(scaler.set_backoff_factor(1), std::invalid_argument);
  EXPECT_THROW(scaler.set_growth_interval(0), std::invalid_argument);
  EXPECT_EQ(scaler.get_growth_factor(), 3);
  EXPECT_EQ(scaler.get_backoff_factor(), 0.25);
  EXPECT_EQ(scaler.get_growth_interval(), 7);
}

// --- The state machine of an optimizer (section 1.9) ---

enum class Call { unscale, step, update, update_to };

struct Transition {
  std::vector<Call> calls;
  bool last_throws;
};
const Transition kTransitions[] = {
    {{Call::unscale}, false},
    {{Call::step}, false},
    {{Call::update}, true},
    {{Call::update_to}, false},
    {{Call::unscale, Call::unscale}, true},
    {{Call::unscale, Call::step}, false},
    {{Call::unscale, Call::update}, false},
    {{Call::unscale, Call::update_to}, false},
    {{Call::step, Call::unscale}, true},
    {{Call::step, Call::step}, true},
    {{Call::step, Call::update}, false},
    {{Call::step, Call::update_to}, false},
    {{Call::unscale, Call::step, Call::unscale}, true},
    {{Call::unscale, Call::step, Call::step}, true},
    {{Call::unscale, Call::update, Call::unscale}, false},
    {{Call::unscale, Call::update_to, Call::unscale}, false},
    {{Call::step, Call::update, Call::step}, false},
    {{Call::step, Call::update, Call::unscale}, false},
    {{Call::step, Call::update_to, Call::step}, false},
    {{Call::step, Call::update, Call::update}, true},
};

TEST(GradScaler, StateMachine) {
  for (std::size_t row = 0; row < std::size(kTransitions); ++row) {
    SCOPED_TRACE("row " + std::to_string(row));
    GradScaler scaler = started();
    Trained trained({4});
    const auto call = [&](Call which) {
      switch (which) {
        case Call::unscale:
          return scaler.unscale_(trained.optimizer);
        case Call::step:
          scaler.step(trained.optimizer);
          return;
        case Call::update:
          return scaler.update();
        case Call::update_to:
          return scaler.update(8.0);
      }
    };
    const auto& [calls, last_throws] = kTransitions[row];
    for (std::size_t i = 0; i + 1 < calls.size(); ++i) ASSERT_NO_THROW(call(calls[i]));
    if (last_throws) {
      EXPECT_THROW(call(calls.back()), std::runtime_error);
    } else {
      EXPECT_NO_THROW(call(calls.back()));
    }
  }
}

TEST(GradScaler, StepDoesNotUnscaleAgain) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started();
    Trained trained({2, 4});
    if (explicitly) scaler.unscale_(trained.optimizer);
    EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
    EXPECT_EQ(trained.gradient(), (Values{0.5, 1}));
    EXPECT_EQ(trained.value(), (Values{0.5, 0}));
  }
}

// "D9 made uniform: after step() the gradients are unscaled unless the step was skipped".
TEST(GradScaler, SkippedStepChangesNothing) {
  for (const double bad : {kInfinite, -kInfinite, kNaN}) {
    GradScaler scaler = started();
    Trained trained({bad, 4});
    EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
    expect_same(trained.gradient(), {bad, 4});
    EXPECT_EQ(trained.value(), (Values{1, 1}));
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 2);
  }
}

TEST(GradScaler, UnscaleWithoutStepCounts) {
  GradScaler scaler = started({.init_scale = 4, .growth_interval = 2});
  Trained trained({4});
  scaler.unscale_(trained.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_growth_tracker(), 1);
  trained.set({kInfinite});
  scaler.unscale_(trained.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);
  EXPECT_EQ(scaler.get_growth_tracker(), 0);
  EXPECT_EQ(trained.value(), Values{1});
}

TEST(GradScaler, VerdictIsOfUnscaleTime) {
  GradScaler scaler = started();
  Trained trained({kInfinite});
  scaler.unscale_(trained.optimizer);
  trained.set({1});  // repaired too late
  EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
  EXPECT_EQ(trained.value(), Values{1});
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);

  trained.set({1});
  scaler.unscale_(trained.optimizer);
  trained.set({kNaN});  // broken after the check
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  expect_same(trained.value(), {kNaN});
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 2);
}

TEST(GradScaler, OutcomesStayReadable) {
  GradScaler scaler = started();
  Trained trained({kInfinite});
  const StepOutcome first = scaler.step(trained.optimizer);
  scaler.update();
  trained.set({1});
  const StepOutcome second = scaler.step(trained.optimizer);
  scaler.update();
  EXPECT_TRUE(first.skipped());
  EXPECT_FALSE(second.skipped());
}

// --- Gradients ---

// D3: "an immediate error that says which optimizer had no gradients and how many parameters it
// owns, and leaves the scaler usable".
TEST(GradScaler, StepWithoutGradients) {
  GradScaler scaler = started();
  Tensor a = full({2}, 1).requires_grad_();
  Tensor b = full({2}, 1).requires_grad_();
  optim::Adam optimizer({a, b});
  for (int attempt = 0; attempt < 2; ++attempt) {
    scaler.unscale_(optimizer);
    const std::string text = message<std::runtime_error>([&] { scaler.step(optimizer); });
    EXPECT_NE(text.find("Adam with 2 parameters"), std::string::npos) << text;
    EXPECT_THROW(scaler.update(), std::runtime_error);
  }
  a.set_grad(full({2}, 4));
  EXPECT_FALSE(scaler.step(optimizer).skipped());
  EXPECT_NO_THROW(scaler.update());
}

TEST(GradScaler, ParametersWithoutGradientsAreLeftAlone) {
  GradScaler scaler = started();
  Tensor a = full({1}, 1).requires_grad_();
  Tensor b = full({1}, 1).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1});
  b.set_grad(full({1}, 4));
  scaler.step(optimizer);
  EXPECT_EQ(a.item(), 1);
  EXPECT_FALSE(a.grad().defined());
  EXPECT_EQ(b.item(), 0);
}

TEST(GradScaler, UnscaleRefusesFloat16BeforeTouchingAnything) {
  GradScaler scaler = started();
  Tensor a = full({1}, 1).requires_grad_();
  Tensor b = full({1}, 1, kHalf).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1});
  a.set_grad(full({1}, 4));
  b.set_grad(full({1}, 4, kHalf));
  for (int attempt = 0; attempt < 2; ++attempt) {  // the stage stays ready
    const std::string text = message<std::invalid_argument>([&] { scaler.unscale_(optimizer); });
    EXPECT_NE(text.find("float16"), std::string::npos) << text;
    EXPECT_EQ(a.grad().item(), 4);
    EXPECT_EQ(b.grad().item(), 4);
  }
  b.set_grad(Tensor());
  EXPECT_NO_THROW(scaler.unscale_(optimizer));
}

// An optimizer that honours found_inf takes float16 gradients, as PyTorch's fused ones do.
TEST(GradScaler, StepAcceptsFloat16) {
  GradScaler scaler = started();
  Trained trained({2}, kHalf);
  scaler.step(trained.optimizer);
  EXPECT_EQ(trained.value(), Values{0.5});
}

TEST(GradScaler, AcceptsBFloat16AndFloat64) {
  for (const DType dtype : {kBFloat16, kDouble}) {
    for (const bool explicitly : {false, true}) {
      GradScaler scaler = started();
      Trained trained({2}, dtype);
      if (explicitly) scaler.unscale_(trained.optimizer);
      scaler.step(trained.optimizer);
      EXPECT_EQ(trained.gradient(), Values{0.5});
      EXPECT_EQ(trained.value(), Values{0.5});
    }
  }
}

TEST(GradScaler, Float64GradientsTakeTheFloat32Inverse) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started({.init_scale = 3});
    Trained trained({1}, kDouble);
    if (explicitly) scaler.unscale_(trained.optimizer);
    scaler.step(trained.optimizer);
    EXPECT_EQ(trained.gradient(), Values{0.3333333432674408});
  }
}

TEST(GradScaler, SharedGradientIsUnscaledTwice) {
  GradScaler scaler = started();
  Tensor a = full({1}, 1).requires_grad_();
  Tensor b = full({1}, 1).requires_grad_();
  Tensor gradient = full({1}, 16);
  a.set_grad(gradient);
  b.set_grad(gradient);
  optim::SGD optimizer({a, b}, {.lr = 1});
  scaler.unscale_(optimizer);
  EXPECT_EQ(gradient.item(), 1);
}

TEST(GradScaler, RefusesGradientsThatRepeatElements) {
  GradScaler scaler = started();
  Trained trained({1, 1, 1});
  trained.param.set_grad(Tensor(Array::full({1}, 1, kFloat).expand({3})));
  EXPECT_THROW(scaler.unscale_(trained.optimizer), std::invalid_argument);
  EXPECT_THROW(scaler.step(trained.optimizer), std::invalid_argument);
}

// --- Several optimizers ---

TEST(GradScaler, OneBadOptimizerBacksOffOnceForAll) {
  for (int bad = 0; bad < 3; ++bad) {
    GradScaler scaler = started();
    Trained first({bad >= 1 ? kInfinite : 4});
    Trained second({bad >= 2 ? kInfinite : 4});
    scaler.unscale_(second.optimizer);
    EXPECT_EQ(scaler.step(first.optimizer).skipped(), bad >= 1);
    EXPECT_EQ(scaler.step(second.optimizer).skipped(), bad >= 2);
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), bad == 0 ? 4 : 2);
    EXPECT_EQ(first.value(), Values{bad >= 1 ? 1.0 : 0.0});
    EXPECT_EQ(second.value(), Values{bad >= 2 ? 1.0 : 0.0});
  }
}

TEST(GradScaler, ReadyOptimizersDoNotVote) {
  GradScaler scaler = started();
  Trained stepped({4});
  Trained ready({kInfinite});
  scaler.step(stepped.optimizer);
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 4);
  EXPECT_EQ(scaler.get_growth_tracker(), 1);
}

// --- update(new_scale) ---

TEST(GradScaler, UpdateToANumber) {
  GradScaler scaler = started();
  Trained trained({4});
  scaler.step(trained.optimizer);
  scaler.update();
  scaler.update(3.0);
  EXPECT_EQ(scaler.get_scale(), 3);
  EXPECT_EQ(scaler.get_growth_tracker(), 1);  // not reset
  scaler.update(16);
  EXPECT_EQ(scaler.get_scale(), 16);
  for (const double bad : {0.0, -1.0, kNaN, kInfinite, 1e39}) {
    EXPECT_THROW(scaler.update(bad), std::invalid_argument) << bad;
    EXPECT_EQ(scaler.get_scale(), 16);
  }
}

TEST(GradScaler, UpdateToATensor) {
  GradScaler scaler = started();
  for (const DType dtype : {kFloat, kDouble, kHalf, kBFloat16, kLong, kInt}) {
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{1, 1}}) {  // D11: any shape
      const Tensor new_scale = full(shape, 32, dtype);
      scaler.update(new_scale);
      new_scale.array().fill_(5);  // copied
      EXPECT_EQ(scaler.get_scale(), 32);
      scaler.update(4.0);
    }
  }
  const Tensor refused[] = {full({2}, 8),  full({}, 8).requires_grad_(),
                            full({0}, 8),  Tensor(),
                            full({}, 0),   full({}, -1),
                            full({}, kNaN)};
  for (const Tensor& bad : refused) {
    EXPECT_THROW(scaler.update(bad), std::invalid_argument);
    EXPECT_EQ(scaler.get_scale(), 4);
  }
}

// --- Numeric edges (section 1.12) ---

TEST(GradScaler, ScaleThree) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started({.init_scale = 3});
    Trained trained({1, 7});
    if (explicitly) scaler.unscale_(trained.optimizer);
    scaler.step(trained.optimizer);
    const std::vector<float> gradient = trained.param.grad().to_vector<float>();
    EXPECT_EQ(gradient, (std::vector<float>{0.33333334f, 2.3333335f}));
    EXPECT_EQ(trained.param.to_vector<float>(), (std::vector<float>{0.6666666f, -1.3333335f}));
  }
}

TEST(GradScaler, SubnormalScaleHasAnInfiniteInverse) {
  for (const double scale : {0x1p-149, 0x1p-130}) {
    GradScaler scaler = started({.init_scale = scale});
    Trained trained({1, 0});
    EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
    expect_same(trained.gradient(), {kInfinite, kNaN});
  }
}

TEST(GradScaler, CheckAfterUnscaleSkipsThat) {
  for (const bool explicitly : {false, true}) {
    GradScaler scaler = started({.init_scale = 0x1p-130, .check_after_unscale = true});
    Trained trained({1, 0});
    if (explicitly) scaler.unscale_(trained.optimizer);
    EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
    EXPECT_EQ(trained.value(), (Values{1, 1}));
  }
}

TEST(GradScaler, MinScaleStopsThePermanentOverflow) {
  GradScaler scaler = started({.init_scale = 4, .min_scale = 1});
  Trained trained({kInfinite});
  for (int k = 0; k < 10; ++k) {
    scaler.step(trained.optimizer);
    scaler.update();
  }
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_THROW(scaler.update(0.5), std::invalid_argument);
}

TEST(GradScaler, HysteresisToleratesASingleBadStep) {
  GradScaler scaler = started({.init_scale = 4, .hysteresis = 2});
  Trained trained({kInfinite});
  for (const double expected : {4, 2}) {
    EXPECT_TRUE(scaler.step(trained.optimizer).skipped());
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), expected);
  }
}

TEST(GradScaler, Counts) {
  GradScaler scaler({.init_scale = 4, .growth_interval = 2});
  EXPECT_EQ(scaler.counts().steps, 0);
  scaler.scale(full({}, 1));
  Trained trained({1});
  for (const double gradient : {1.0, 1.0, kNaN, 1.0, kInfinite}) {
    trained.set({gradient});
    scaler.step(trained.optimizer);
    scaler.update();
  }
  const GradScalerCounts counts = scaler.counts();
  EXPECT_EQ(counts.steps, 3);
  EXPECT_EQ(counts.skipped_steps, 2);
  EXPECT_EQ(counts.growths, 1);
  EXPECT_EQ(counts.backoffs, 2);
}

// --- Skipped first steps (D1, D10) and Adam's count ---

TEST(GradScaler, SkippedFirstStepLeavesNoMomentum) {
  GradScaler scaler = started({.init_scale = 1});
  Trained skipped({kInfinite}, kFloat, {.lr = 1, .momentum = 0.9});
  Trained plain({1}, kFloat, {.lr = 1, .momentum = 0.9});
  scaler.step(skipped.optimizer);
  scaler.update(1.0);
  for (int k = 0; k < 3; ++k) {
    skipped.set({1});
    scaler.step(skipped.optimizer);
    scaler.update(1.0);
    plain.optimizer.step();
  }
  EXPECT_EQ(skipped.value(), plain.value());
}

TEST(GradScaler, SkippedStepDoesNotAdvanceAdam) {
  GradScaler scaler = started({.init_scale = 1});
  Tensor a = full({1}, 1).requires_grad_();
  Tensor b = full({1}, 1).requires_grad_();
  optim::Adam with_skips({a}, {.lr = 0.1});
  optim::Adam plain({b}, {.lr = 0.1});
  b.set_grad(full({1}, 1));
  for (const double gradient : {kNaN, 1.0, kInfinite, 1.0, kNaN}) {
    a.set_grad(full({1}, gradient));
    if (!scaler.step(with_skips).skipped()) plain.step();
    scaler.update(1.0);
  }
  EXPECT_EQ(a.item(), b.item());
}

TEST(GradScaler, MomentumOfParametersThatJoinLater) {
  GradScaler scaler = started({.init_scale = 1});
  Tensor a = full({1}, 1).requires_grad_();
  Tensor b = full({1}, 1).requires_grad_();
  optim::SGD optimizer({a, b}, {.lr = 1, .momentum = 0.5});
  a.set_grad(full({1}, 1));
  scaler.step(optimizer);
  scaler.update();
  b.set_grad(full({1}, 1));
  a.set_grad(full({1}, 1));
  scaler.step(optimizer);
  EXPECT_EQ(a.item(), 1 - 1 - 1.5);
  EXPECT_EQ(b.item(), 0);
}

// --- Disabled ---

TEST(GradScaler, DisabledIsAPassThrough) {
  GradScaler scaler({.enabled = false});
  Trained trained({2});
  const Tensor loss = full({}, 1, kHalf);
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  EXPECT_NO_THROW(scaler.unscale_(trained.optimizer));
  EXPECT_NO_THROW(scaler.unscale_(trained.optimizer));
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  EXPECT_FALSE(scaler.step(trained.optimizer).skipped());
  EXPECT_EQ(trained.value(), Values{-3});
  EXPECT_NO_THROW(scaler.update());
  EXPECT_NO_THROW(scaler.update(0.0));
  EXPECT_EQ(scaler.get_scale(), 1);
  EXPECT_EQ(scaler.get_growth_tracker(), 0);
  EXPECT_EQ(scaler.counts().steps, 0);
  EXPECT_FALSE(scaler.is_enabled());
  EXPECT_TRUE(scaler.state_dict().empty());
  EXPECT_NO_THROW(scaler.load_state_dict({}));
}

TEST(GradScaler, ClosuresNeedADisabledScaler) {
  Trained trained({2});
  const auto closure = [&] {
    trained.set({1});
    return full({}, 7);
  };
  GradScaler disabled({.enabled = false});
  const StepOutcome outcome = disabled.step(trained.optimizer, closure);
  ASSERT_TRUE(outcome.loss().has_value());
  EXPECT_EQ(outcome.loss()->item(), 7);
  EXPECT_EQ(trained.value(), Values{0});
  GradScaler enabled = started();
  EXPECT_THROW(enabled.step(trained.optimizer, closure), std::runtime_error);
}

// --- State ---

TEST(GradScaler, StateHasPyTorchsKeys) {
  GradScaler scaler = started({.init_scale = 8, .growth_factor = 3, .growth_interval = 10});
  Trained trained({1});
  scaler.step(trained.optimizer);
  scaler.update();
  const GradScalerState expected{{"scale", 8},
                                 {"growth_factor", 3},
                                 {"backoff_factor", 0.5},
                                 {"growth_interval", 10},
                                 {"_growth_tracker", 1}};
  EXPECT_EQ(scaler.state_dict(), expected);
}

TEST(GradScaler, LoadsBeforeAndAfterTheFirstLoss) {
  const GradScalerState state{
      {"scale", 32},          {"growth_factor", 4},   {"backoff_factor", 0.25},
      {"growth_interval", 3}, {"_growth_tracker", 2}, {"unknown", 1}};
  for (const bool live : {false, true}) {
    GradScaler scaler;
    if (live) scaler.scale(full({}, 1));
    scaler.load_state_dict(state);
    GradScalerState known = state;
    known.erase("unknown");
    EXPECT_EQ(scaler.state_dict(), known);
    EXPECT_EQ(scaler.scale(full({}, 1)).item(), 32);
    Trained trained({32});
    scaler.step(trained.optimizer);
    EXPECT_EQ(trained.value(), Values{0});
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), 128);  // the third good step
  }
}

TEST(GradScaler, HysteresisIsPartOfTheState) {
  GradScaler scaler = started({.init_scale = 4, .hysteresis = 2});
  Trained trained({kInfinite});
  scaler.step(trained.optimizer);
  scaler.update();
  for (const bool live : {false, true}) {
    GradScaler resumed({.init_scale = 4, .hysteresis = 2});
    if (live) resumed.scale(full({}, 1));
    resumed.load_state_dict(scaler.state_dict());
    resumed.scale(full({}, 1));
    resumed.step(trained.optimizer);
    resumed.update();
    EXPECT_EQ(resumed.get_scale(), 2);
  }
}

TEST(GradScaler, BadStatesChangeNothing) {
  const GradScalerState good{{"scale", 32},
                             {"growth_factor", 4},
                             {"backoff_factor", 0.25},
                             {"growth_interval", 3},
                             {"_growth_tracker", 2}};
  GradScaler scaler = started();
  const GradScalerState before = scaler.state_dict();
  for (const auto& [key, value] : good) {
    GradScalerState partial = good;
    partial.erase(key);
    const std::string text =
        message<std::invalid_argument>([&] { scaler.load_state_dict(partial); });
    EXPECT_NE(text.find(key), std::string::npos) << text;
    for (const double bad : {kNaN, -1.0, kInfinite}) {
      GradScalerState wrong = good;
      wrong[key] = bad;
      EXPECT_THROW(scaler.load_state_dict(wrong), std::invalid_argument) << key << " " << bad;
    }
    EXPECT_EQ(scaler.state_dict(), before);
  }
  GradScalerState fractional = good;
  fractional["growth_interval"] = 2.5;
  EXPECT_THROW(scaler.load_state_dict(fractional), std::invalid_argument);
  EXPECT_THROW(scaler.load_state_dict({}), std::runtime_error);
  EXPECT_EQ(scaler.state_dict(), before);
}

}  // namespace
}  // namespace halfgrad::amp
