#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/tests/autograd/engine/finite_differences.h>
#include <halfgrad/tests/autograd/table/doubles.h>
#include <halfgrad/tests/message_of.h>

// Losses over classes of input [n, c, ...]. Expected values are PyTorch 2.15's.
namespace halfgrad {
namespace {

constexpr Reduction kReductions[] = {kNone, kMean, kSum};

class LossesByPosition : public TensorsOnDevice {
 protected:
  // ((i factor) mod `modulus`) / divisor, as [2, 3, 4].
  Tensor counted(int factor, int modulus, double divisor) const {
    Doubles values;
    for (int i = 0; i < 24; ++i) values.push_back(i * factor % modulus / divisor);
    return reshape(elements(values), {2, 3, 4});
  }
  Tensor logits() const { return counted(7, 11, 4); }
  Tensor probabilities() const { return counted(5, 7, 8); }
  Tensor classes() const {
    return tensor({{0, 2, 1, 1}, {2, -100, 0, 1}}, {.dtype = kLong, .device = device()});
  }
  Tensor weight() const { return elements({0.5, 1, 2}); }

  // Checks the losses of [2, 3, 4], and of the same input as [2, 3, 2, 2].
  template <class F>
  static void expect_losses(const F& f, const Tensor& target, Reduction reduction,
                            const Tensor& input, const Doubles& expected) {
    const bool each = reduction == kNone, soft = target.is_floating_point();
    const Tensor losses = f(input, target);
    EXPECT_EQ(losses.sizes(), each ? Shape({2, 4}) : Shape());
    expect_near(losses, expected, kDouble);
    const Tensor square =
        f(reshape(input, {2, 3, 2, 2}), reshape(target, soft ? Shape{2, 3, 2, 2} : Shape{2, 2, 2}));
    EXPECT_EQ(square.sizes(), each ? Shape({2, 2, 2}) : Shape());
    EXPECT_EQ(elements(square), elements(losses));
  }
  // `plain` and `smoothed` have the losses for each of kReductions, with smoothing 0 and 0.25.
  void expect_cross_entropies(const Tensor& target, const std::vector<Doubles>& plain,
                              const std::vector<Doubles>& smoothed) const {
    for (std::size_t i = 0; i < 3; ++i) {
      for (const double smoothing : {0.0, 0.25}) {
        const auto loss = [&](const Tensor& x, const Tensor& t) {
          return cross_entropy(
              x, t,
              {.weight = weight(), .reduction = kReductions[i], .label_smoothing = smoothing});
        };
        expect_losses(loss, target, kReductions[i], logits(),
                      smoothing > 0 ? smoothed[i] : plain[i]);
      }
    }
  }
  static void expect_near(const Tensor& actual, const Doubles& expected, DType dtype) {
    const Doubles values = elements(actual);
    ASSERT_EQ(values.size(), expected.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(values[i], expected[i], 64 * roundoff(dtype)) << i;
    }
  }
};
HALFGRAD_ON_DEVICES(LossesByPosition);

TEST_P(LossesByPosition, CrossEntropyOfClasses) {
  const std::vector<Doubles> plain{
      {0.9559339356375477, 1.3882243728038284, 0.41186787127509544, 1.563780863337258,
       1.3882243728038284, 0.0, 0.15689043166862898, 2.194112186401914},
      {1.0073792542410125},
      {8.0590340339281}};
  const std::vector<Doubles> smoothed{
      {1.1079119141833969, 1.3790343339700963, 0.6998623659115577, 1.7851883993096438,
       1.3790343339700963, 0.0, 0.730020575558172, 1.9834501941686604},
      {1.1330627646339528},
      {9.064502117071623}};
  expect_cross_entropies(classes(), plain, smoothed);
}

TEST_P(LossesByPosition, CrossEntropyOfProbabilities) {
  const std::vector<Doubles> plain{
      {2.3862357425501908, 1.9126752912529907, 0.876909161501628, 4.240282598964466,
       1.4058762097021535, 0.29046696781877385, 4.690061726674516, 1.9126752912529907},
      {2.214397873714714},
      {17.71518298971771}};
  const std::vector<Doubles> smoothed{
      {2.180638269367879, 1.7723725228069682, 1.0486433335814573, 3.79256470103005,
       1.39227321164384, 0.6088116883193165, 4.129899046812588, 1.7723725228069682},
      {2.0871969120461333},
      {16.697575296369067}};
  expect_cross_entropies(probabilities(), plain, smoothed);
}

TEST_P(LossesByPosition, NllLoss) {
  const std::vector<Doubles> plain{{0, -4, -2.25, -1.25, -4, 0, -1.25, -0.25}, {-1.625}, {-13}};
  const std::vector<Doubles> without_class_2{
      {0, 0, -2.25, -1.25, 0, -0.375, -1.25, -0.25}, {-1.1944444444444444}, {-5.375}};
  for (std::size_t i = 0; i < 3; ++i) {
    const Reduction reduction = kReductions[i];
    const auto loss = [&](const Tensor& x, const Tensor& t) {
      return nll_loss(x, t, weight(), reduction);
    };
    expect_losses(loss, classes(), reduction, logits(), plain[i]);
    const auto ignoring = [&](const Tensor& x, const Tensor& t) {
      return nll_loss(x, t, weight(), reduction, 2);
    };
    expect_losses(ignoring, clamp(classes(), 0), reduction, logits(), without_class_2[i]);
  }
}

TEST_P(LossesByPosition, AcceptEmptyInputs) {
  const Tensor x = logits().slice(2, 0, 0), t = classes().slice(1, 0, 0);
  EXPECT_EQ(cross_entropy(x, t, {.reduction = kNone}).sizes(), Shape({2, 0}));
  EXPECT_EQ(cross_entropy(x, t, {.reduction = kSum}).item(), 0);
  EXPECT_TRUE(std::isnan(cross_entropy(x, t).item()));
  EXPECT_TRUE(std::isnan(cross_entropy(x, probabilities().slice(2, 0, 0)).item()));
  EXPECT_EQ(nll_loss(x, t, {}, kNone).sizes(), Shape({2, 0}));
}

TEST(LossesByPositionOnCpu, HaveTheGradientsOfFiniteDifferences) {
  const Tensor x = random_leaf({2, 3, 4}, 1), q = random_leaf({2, 3, 4}, 2);
  const Tensor t = tensor({{0, 2, 1, 1}, {2, -100, 0, 1}}, {.dtype = kLong});
  for (const Reduction reduction : kReductions) {
    const CrossEntropyOptions options{.reduction = reduction, .label_smoothing = 0.1};
    const TensorFunction of_classes = [&](const std::vector<Tensor>& in) {
      return cross_entropy(in[0], t, options);
    };
    expect_gradients(of_classes, {x});
    expect_second_gradients(of_classes, {x});
    const TensorFunction of_probabilities = [&](const std::vector<Tensor>& in) {
      return cross_entropy(in[0], in[1], options);
    };
    expect_gradients(of_probabilities, {x, q});
    expect_gradients([&](const auto& in) { return nll_loss(in[0], t, {}, reduction); }, {x});
  }
}

TEST(LossesByPositionOnCpu, RefuseOtherTargets) {
  const Tensor x = random_leaf({2, 3, 4}, 1);
  EXPECT_EQ(message_of<std::invalid_argument>([&] {
              cross_entropy(x, zeros({2, 3}, {.dtype = kLong}));
            }),
            "cross_entropy: expected classes of shape [2, 4] or probabilities of shape [2, 3, 4], "
            "got int64 of shape [2, 3]");
  EXPECT_THROW(cross_entropy(x, zeros({2, 4})), std::invalid_argument);
  EXPECT_THROW(cross_entropy(x, zeros({2, 3, 4}, {.dtype = kLong})), std::invalid_argument);
  EXPECT_THROW(nll_loss(x, zeros({2, 3, 4})), std::invalid_argument);
  EXPECT_THROW(cross_entropy(x, full({2, 4}, 3, {.dtype = kLong})), std::out_of_range);
  EXPECT_THROW(cross_entropy(zeros({}), zeros({}, {.dtype = kLong})), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
