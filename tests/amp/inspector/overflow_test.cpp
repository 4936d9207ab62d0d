#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/tests/devices.h>

/// Steps with one planted inf or NaN: find_overflow() must name the cause, the op, its module, and
/// the place.
namespace halfgrad::amp {
namespace {

using Function = std::function<Tensor(const Tensor&)>;

/// A layer that computes a function without parameters.
class Lambda : public nn::Callable<Lambda> {
 public:
  explicit Lambda(Function function) : function_(std::move(function)) {}
  Tensor forward(const Tensor& x) const { return function_(x); }

 private:
  Function function_;
};

/// A Linear layer whose weights are all `weight` and whose bias is 0.
nn::Linear linear(std::int64_t in, std::int64_t out, double weight) {
  const nn::Linear layer(in, out);
  layer.weight.array().fill_(weight);
  layer.bias.array().fill_(0);
  return layer;
}

struct Planted {
  std::string name;
  std::function<Overflow()> find;
  OverflowCause cause;
  std::string op, module, what;
};

// The model's step under autocast: the sum of its outputs in float32, times `factor`.
template <class Model>
std::function<Overflow()> step(const Model& model, const Tensor& x, double factor = 1,
                               double scale = 65536) {
  return [=] {
    const auto loss = [&] {
      const Autocast autocast(default_device_type());
      return mul(model(x).to(kFloat), factor).sum();
    };
    return find_overflow(NamedModel(model), loss, {.scale = scale});
  };
}

const std::vector<Planted>& scales_too_high() {
  using enum OverflowCause;
  const auto half = [](double value) {
    return Lambda([=](const Tensor& x) { return mul(x.to(kHalf), value); });
  };
  static const std::vector<Planted> cases{
      {"the loss's gradient as float16", step(nn::Sequential(linear(4, 4, 1)), ones({2, 4})),
       scale_too_high, "to", "", "the gradient of operand 0"},
      {"a weight", step(nn::Sequential(linear(4, 4, 0.01)), full({2, 4}, 100.0), 0.25),
       scale_too_high, "linear", "0", "the gradient of 0.weight (operand 1)"},
      {"a bias", step(nn::Sequential(linear(4, 4, 1)), zeros({8, 4}), 0.25), scale_too_high,
       "linear", "0", "the gradient of 0.bias (operand 2)"},
      {"an activation",
       step(nn::Sequential{linear(4, 4, 0), linear(4, 4, 100)}, zeros({1, 4}), 0.25),
       scale_too_high, "linear", "1", "the gradient of operand 0"},
      {"a product in float16", step(nn::Sequential{linear(2, 2, 0), half(100)}, ones({1, 2}), 0.25),
       scale_too_high, "mul", "1", "the gradient of operand 0"},
      {"the innermost of nested modules",
       step(nn::Sequential{linear(2, 2, 0), nn::Sequential{nn::ReLU(), half(1000)}}, ones({1, 2}),
            0.01),
       scale_too_high, "mul", "1.1", "the gradient of operand 0"},
      {"the sum of four uses",
       step(nn::Sequential{linear(2, 2, 0),
                           Lambda([](const Tensor& x) { return add(add(x, x), add(x, x)); })},
            ones({1, 2}), 0.4),
       scale_too_high, "linear", "0", "the sum of the gradients of the result of linear"},
      {"a quotient in float16",
       step(nn::Sequential{linear(2, 2, 0),
                           Lambda([](const Tensor& x) { return div(x, tensor(0.001, kHalf)); })},
            ones({1, 2}), 0.1),
       scale_too_high, "div", "1", "the gradient of operand 0"},
      {"a square in float16",
       step(nn::Sequential{linear(2, 2, 100), Lambda([](const Tensor& x) { return mul(x, x); })},
            ones({1, 2}), 0.01),
       scale_too_high, "mul", "1", "the gradient of operand 0"},
      {"a loss in float16",
       [] {
         const nn::Linear model = linear(2, 1, 1);
         const auto loss = [&] {
           const Autocast autocast(default_device_type());
           return model(ones({1, 2})).sum().to(kHalf);
         };
         return find_overflow(NamedModel(model), loss, {.scale = 131072});
       },
       scale_too_high, "scale", "", "the gradient of operand 0"},
  };
  return cases;
}

const std::vector<Planted>& divergences() {
  using enum OverflowCause;
  const double inf = std::numeric_limits<double>::infinity();
  const auto model = [](Function function, double weight = 1) {
    return nn::Sequential{linear(2, 2, weight), Lambda(std::move(function))};
  };
  static const std::vector<Planted> cases{
      {"exp", step(model([](const Tensor& x) { return exp(x); }, 100), ones({1, 2})), forward,
       "exp", "1", "the result"},
      {"a product above 65504",
       step(nn::Sequential{linear(2, 2, 1), linear(2, 2, 3e4)}, full({1, 2}, 2.0)), forward,
       "linear", "1", "the result"},
      {"log of a negative number",
       step(model([](const Tensor& x) { return log(x); }, -1), ones({1, 2})), forward, "log", "1",
       "the result"},
      {"a division by zero",
       step(model([](const Tensor& x) { return div(x, sub(x, x)); }), ones({1, 2})), forward, "div",
       "1", "the result"},
      {"inf - inf after exp",
       step(model([](const Tensor& x) { return sub(exp(x), exp(x)); }, 100), ones({1, 2})), forward,
       "exp", "1", "the result"},
      {"a softmax of a row that is masked",
       step(model([=](const Tensor& x) {
              return softmax(masked_fill(x, ones({1, 2}, kBool), -inf), 1);
            }),
            ones({1, 2})),
       forward, "softmax", "1", "the result"},
      {"a NaN in the data", step(nn::Sequential(linear(2, 2, 1)), full({1, 2}, std::nan(""))),
       forward, "to", "0", "the result"},
      {"an infinite weight", step(nn::Sequential{linear(2, 2, inf), linear(2, 2, 1)}, ones({1, 2})),
       forward, "to", "0", "the result"},
      {"an infinite weight that a later op turns into a NaN",
       step(model([](const Tensor& x) { return sub(x, x); }, inf), ones({1, 2})), forward, "to",
       "0", "the result"},
      {"sqrt at zero",
       step(model([](const Tensor& x) { return sqrt(x.to(kFloat)); }, 0), ones({1, 2})), backward,
       "sqrt", "1", "the gradient of operand 0"},
      {"sqrt at zero behind where",
       step(model(
                [](const Tensor& x) {
                  const Tensor wide = x.to(kFloat);
                  return where(wide > 0, sqrt(wide), wide);
                },
                0),
            ones({1, 2})),
       backward, "sqrt", "1", "the gradient of operand 0"},
      {"the slope of a quotient",
       step(model([](const Tensor& x) {
              const Tensor tiny = mul(x.to(kFloat), 1e-39);
              return div(full({1, 2}, 1e-38), tiny);
            }),
            ones({1, 2})),
       backward, "div", "1", "the gradient of operand 1"},
  };
  return cases;
}

void expect_found(const Planted& planted) {
  SCOPED_TRACE(planted.name);
  const Overflow found = planted.find();
  EXPECT_EQ(static_cast<int>(found.cause), static_cast<int>(planted.cause)) << explain(found);
  EXPECT_EQ(found.op, planted.op) << explain(found);
  EXPECT_EQ(found.module, planted.module) << explain(found);
  EXPECT_EQ(found.what, planted.what) << explain(found);
}

TEST(FindOverflow, NamesTheOpWhoseGradientOverflowsByTheScale) {
  for (const Planted& planted : scales_too_high()) {
    expect_found(planted);
    const Overflow found = planted.find();
    ASSERT_TRUE(found.safe_scale) << planted.name;
    EXPECT_LT(*found.safe_scale, found.scale);
    EXPECT_GT(found.magnitude_unscaled * found.scale, 65504) << planted.name;
  }
}

TEST(FindOverflow, NamesTheOpWhoseResultOrSlopeIsNotFinite) {
  for (const Planted& planted : divergences()) {
    expect_found(planted);
    EXPECT_FALSE(planted.find().safe_scale) << planted.name;
  }
}

TEST(FindOverflow, ItsScaleIsTheLargestThatIsSafe) {
  const auto model = nn::Sequential(linear(4, 4, 0.01));
  const auto found = [&](double scale) { return step(model, full({2, 4}, 100.0), 0.25, scale)(); };
  const double safe = found(65536).safe_scale.value();
  EXPECT_EQ(safe, 1024);  // 2 rows x 100 x 0.25 x 1024 = 51200
  EXPECT_FALSE(found(safe));
  EXPECT_TRUE(found(2 * safe));
  EXPECT_EQ(found(65000).safe_scale, safe) << "a scale that is no power of two";
  EXPECT_EQ(found(65536).magnitude_unscaled, 50);
}

TEST(FindOverflow, RepeatsTheRandomNumbersOfTheStep) {
  const auto model = nn::Sequential{linear(64, 1, 1), nn::Dropout(0.5)};
  default_generator().manual_seed(7);
  const RandomKey before = default_generator().get_state();
  std::vector<std::vector<float>> dropped;
  const auto loss = [&] {
    const Tensor y = model(ones({32, 64}));
    dropped.push_back(y.to_vector<float>());
    return mul(y.to(kHalf).to(kFloat), 1.0).sum();
  };
  static_cast<void>(loss());
  const RandomKey after = default_generator().get_state();
  const Overflow found = find_overflow(NamedModel(model), loss, {.scale = 65536, .random = before});
  EXPECT_TRUE(found);
  ASSERT_GE(dropped.size(), 3U);
  for (const auto& other : dropped) EXPECT_EQ(other, dropped[0]);
  EXPECT_EQ(default_generator().get_state().stream, after.stream);
}

TEST(FindOverflow, LeavesGradientsAndBuffersAsTheyWere) {
  const auto model = nn::Sequential{linear(4, 4, 1), nn::BatchNorm1d(4)};
  const Tensor x = randn({8, 4});
  model(x).sum().backward();
  std::vector<std::vector<float>> before, after;
  const auto copy_to = [&](auto& list) {
    for (const Tensor& parameter : model.parameters()) {
      list.push_back(parameter.grad().to_vector<float>());
    }
    for (const Tensor& buffer : model.buffers()) list.push_back(buffer.to_vector<float>());
  };
  copy_to(before);
  static_cast<void>(step(model, mul(x, 2), 1, 65536)());
  copy_to(after);
  EXPECT_EQ(before, after);
}

TEST(FindOverflow, IsSilentForAFinitePass) {
  const Overflow found = step(nn::Sequential(linear(4, 4, 1)), ones({2, 4}), 1, 1024)();
  EXPECT_FALSE(found);
  EXPECT_EQ(explain(found), "all gradients are finite");
}

TEST(FindOverflow, ExplainsInWords) {
  const std::string text = explain(scales_too_high()[1].find());
  EXPECT_NE(
      text.find("the scale is too high: the gradient of 0.weight (operand 1) overflowed in "
                "linear's backward in 0; its largest magnitude is 50 at scale 1, and the scale is "
                "65536; the largest safe scale is 1024"),
      std::string::npos)
      << text;
}

TEST(FindOverflow, RefusesWhatItCannotReplay) {
  const nn::Linear model = linear(2, 2, 1);
  const NamedModel named(model);
  const auto vector = [&] { return model(ones({1, 2})); };
  const auto scalar = [&] { return vector().sum(); };
  EXPECT_THROW(find_overflow(named, vector), std::invalid_argument);
  EXPECT_THROW(find_overflow(NamedModel(), scalar), std::invalid_argument);
  EXPECT_THROW(find_overflow(named, scalar, {.scale = 0}), std::invalid_argument);
  EXPECT_THROW(find_overflow(named, scalar, {.scale = HUGE_VAL}), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::amp
