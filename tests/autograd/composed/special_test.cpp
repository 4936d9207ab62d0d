#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include <halfgrad/autograd/composed/special.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// Expected values of erfc and lgamma are those of <cmath>, the others were computed by mpmath in 40
// digits.
namespace halfgrad {
namespace {

using SpecialFunctions = TensorsOnDevice;
HALFGRAD_ON_DEVICES(SpecialFunctions);

struct Point {
  double x, y;
};
using Points = std::vector<Point>;
using Function = Tensor (*)(const Tensor&);

/// Compares values in float64 within `roundoffs` of max(|y|, least), and in float32, float16 and
/// bfloat16 within 1.01 of the operand's rounding.
class Comparison {
 public:
  Comparison(Device device, Function function, double roundoffs, double least)
      : device_(device), function_(function), roundoffs_(roundoffs), least_(least) {}

  void in_float64(const Points& points) const {
    for (const Point& p : points) {
      const double actual = elements(function_(elements({p.x}).to(device_)))[0];
      if (!std::isfinite(p.y)) {
        EXPECT_EQ(actual, p.y) << p.x;
        continue;
      }
      const double allowed = roundoffs_ * roundoff(kFloat64) * std::max(std::fabs(p.y), least_);
      EXPECT_NEAR(actual, p.y, allowed) << p.x;
    }
  }
  void rounds_once(const Doubles& arguments) const {
    for (const DType dtype : {kFloat32, kFloat16, kBFloat16}) {
      const Tensor x = elements(arguments, dtype).to(device_);
      const Tensor y = function_(x);
      EXPECT_EQ(y.dtype(), dtype);
      expect_values(y, elements(function_(x.to(kFloat64)).to(dtype).to(kFloat64)));
    }
  }

 private:
  Device device_;
  Function function_;
  double roundoffs_, least_;
};

Points points_of(double (*reference)(double), const Doubles& arguments) {
  Points points;
  for (const double x : arguments) points.push_back({x, reference(x)});
  return points;
}

TEST_P(SpecialFunctions, ErfcKeepsItsDigitsForLargeArguments) {
  Doubles arguments{-kInf, -30,    -6,   -1,  -0.5,   -0.1, -1e-20,
                    0,     1e-300, 1e-5, 0.1, 0.4999, 0.5,  kInf};
  for (double x = 0.5; x < 26; x += 0.37) arguments.push_back(x);
  const Comparison compare(device(), &erfc, 16, 1e-300);
  compare.in_float64(points_of([](double x) { return std::erfc(x); }, arguments));
  compare.rounds_once({-3, -0.5, 0, 1e-4, 0.3, 1, 2.5, 4});
  EXPECT_TRUE(std::isnan(elements(erfc(elements({kNan})))[0]));
}

TEST_P(SpecialFunctions, LgammaOnBothSidesOfZero) {
  Doubles arguments{-kInf, -2,  -1, -0.0, 0,     1e-310, 1e-300, 1e-20, 1e-5, 0.1, 0.5,   1,
                    1.25,  1.5, 2,  2.5,  7.999, 8,      8.001,  20.5,  171,  1e5, 1e300, kInf};
  for (double x = -20.4; x < 0; x += 0.37) arguments.push_back(x);
  const Comparison compare(device(), &lgamma, 64, 1);
  compare.in_float64(points_of([](double x) { return std::lgamma(x); }, arguments));
  compare.rounds_once({-3, -2.5, -0.5, 0, 1e-4, 0.3, 1, 2.5, 40});
  EXPECT_TRUE(std::isnan(elements(lgamma(elements({kNan})))[0]));
  expect_values(lgamma(elements({1, 2})), {0, 0});
}

TEST_P(SpecialFunctions, DigammaAndItsDerivatives) {
  const Points values{{1e-10, -10000000000.5772153},
                      {0.1, -10.423754940411076232},
                      {0.25, -4.2274535333762654081},
                      {0.5, -1.9635100260214234794},
                      {1, -0.57721566490153286061},
                      {1.25, -0.22745353337626540809},
                      {1.5, 0.036489973978576520559},
                      {2, 0.42278433509846713939},
                      {3.75, 1.1825373886117962286},
                      {8, 2.0156414779556099965},
                      {31.5, 3.4340305542075627238},
                      {1000, 6.9072551956488120521},
                      {1e10, 23.02585092989045684},
                      {-0.1, 9.2450730500529480423},
                      {-0.5, 0.036489973978576520559},
                      {-1.25, 3.7141391202135278304},
                      {-5.5, 1.7929113303999329419},
                      {-100.125, 12.195880442483345875},
                      {0, -kInf},
                      {-0.0, kInf},
                      {kInf, kInf}};
  const Comparison compare(device(), &digamma, 64, 1);
  compare.in_float64(values);
  compare.rounds_once({-2.5, -0.5, 1e-4, 0.3, 1, 2.5, 40});
  for (const double y : elements(digamma(elements({-1, -7, -kInf, kNan})))) {
    EXPECT_TRUE(std::isnan(y));
  }
  const Function first = [](const Tensor& x) { return polygamma(1, x); };
  const Points trigammas{{0.1, 101.4332991507927477},
                         {0.5, 4.9348022005446793094},
                         {1, 1.6449340668482264365},
                         {3.75, 0.30533985269025307549},
                         {10, 0.10516633568168574612},
                         {1000, 0.0010005001666666333334},
                         {-0.1, 101.92253995947719243},
                         {-0.5, 8.9348022005446793094},
                         {-1.25, 19.181879647671606498},
                         {-100.125, 67.383936596501530887},
                         {0, kInf},
                         {-3, kInf},
                         {kInf, 0}};
  Comparison(device(), first, 64, 1).in_float64(trigammas);
  const Function fifth = [](const Tensor& x) { return polygamma(5, x); };
  const Points fifths{{0.1, 120000069.307510929},     {0.5, 7691.1135486024354962},
                      {1, 122.08116743813389677},     {2.5, 0.57856917856718348455},
                      {20, 8.4842662061582300714e-6}, {-0.5, 15371.113548602435496},
                      {-1.25, 492230.21062287457971}, {-5.5, 15382.224113383914255}};
  Comparison(device(), fifth, 256, 1e-5).in_float64(fifths);
  const Function second = [](const Tensor& x) { return polygamma(2, x); };
  const Points seconds{{0.1, -2001.8614573783436732},
                       {1, -2.4041138063191885708},
                       {20, -0.0026281224023146545934},
                       {-1.25, 123.72136678366236037},
                       {0, -kInf},
                       {-2, -kInf}};
  Comparison(device(), second, 64, 1e-3).in_float64(seconds);
  EXPECT_THROW(polygamma(-1, elements({1})), std::invalid_argument);
}

TEST_P(SpecialFunctions, ErfinvInvertsErf) {
  const Points points{{1e-300, 8.8622692545275803586e-301},
                      {1e-10, 8.8622692545275804594e-11},
                      {0.001, 0.00088622715746655212301},
                      {0.1, 0.088855990494257691974},
                      {0.3, 0.27246271472675434502},
                      {0.5, 0.47693627620446987338},
                      {0.75, 0.81341984759761854169},
                      {0.99, 1.8213863677184494559},
                      {0.9999, 2.7510639057120796917},
                      {1 - 0x1p-20, 3.4655050258033307173},
                      {1 - 0x1p-40, 5.0512540852493899671},
                      {1 - 0x1p-53, 5.8635847487551679272},
                      {-0.2, -0.17914345462129168665},
                      {-0.999, -2.3267537655135244939},
                      {0, 0},
                      {1, kInf},
                      {-1, -kInf}};
  const Comparison compare(device(), &erfinv, 16, 1e-300);
  compare.in_float64(points);
  compare.rounds_once({-1, -0.75, 0, 1e-4, 0.3, 0.999, 1});
  for (const double y : elements(erfinv(elements({-1.5, 2, kNan})))) EXPECT_TRUE(std::isnan(y));
}

TEST_P(SpecialFunctions, GradientsAgreeWithFiniteDifferences) {
  const Tensor x = random_tensor({3, 4}, -0.9, 0.9, {.seed = 5}).to(device()).requires_grad_();
  const Function functions[] = {&erfc,
                                &erfinv,
                                [](const Tensor& t) { return lgamma(t * 0.4 + 1.5); },
                                [](const Tensor& t) { return lgamma(t * 0.4 - 2.5); },
                                [](const Tensor& t) { return digamma(t * 0.4 + 1.5); },
                                [](const Tensor& t) { return polygamma(2, t * 0.3 - 1.5); }};
  for (const Function f : functions) {
    const auto run = [f](const std::vector<Tensor>& in) { return f(in[0]); };
    EXPECT_TRUE(autograd::gradcheck(run, {x}));
    EXPECT_TRUE(autograd::gradgradcheck(run, {x}));
  }
}

TEST_P(SpecialFunctions, MethodsInPlaceIntegersAndEmptyTensors) {
  Tensor x = elements({0.25, 0.5}).requires_grad_();
  Tensor y = x * 1;
  y.lgamma_();
  y.sum().backward();
  expect_values(x.grad(), elements(x.detach().digamma()));
  Tensor z = elements({0.25, 0.5});
  expect_values(z.clone().erfc_(), elements(z.erfc()));
  expect_values(z.clone().erfinv_(), elements(z.erfinv()));
  expect_values(z.clone().digamma_(), elements(z.digamma()));
  expect_values(z.clone().polygamma_(1), elements(z.polygamma(1)));
  EXPECT_EQ(lgamma(tensor({1, 2})).dtype(), kFloat32);
  EXPECT_EQ(erfc(elements(Doubles())).numel(), 0);
  const Tensor matrix = elements({0.1, 0.2, 0.3, 0.4}).reshape({2, 2});
  expect_values(matrix.t().erfc().t().flatten(), elements(matrix.erfc()));
}

}  // namespace
}  // namespace halfgrad
