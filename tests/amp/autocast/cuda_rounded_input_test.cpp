// The first layer of a network on a GPU: the products of linear and linear_relu round a float32
// batch themselves, with the bits of a cast before them.
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/launches.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/core/numbers/special_floats.h>
#include <halfgrad/tests/devices.h>

namespace halfgrad {
namespace {

using Bits = std::vector<std::uint64_t>;
using Layer = std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>;

// The elements as bit patterns, where every NaN is the same.
Bits bits_of(const Tensor& t) {
  Bits all;
  for (const double x : t.to_vector<double>()) {
    all.push_back(std::isnan(x) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x));
  }
  return all;
}

class NamesOfOps : public OpObserver {
 public:
  std::vector<std::string> ops;

 private:
  void ran(const OpCall& call) override {
    if (!call.in_backward) ops.emplace_back(call.op);
  }
};

class RoundedInput : public OnCuda {
 protected:
  static constexpr std::int64_t kRows = 40, kIn = 72, kOut = 33;

  void SetUp() override {
    OnCuda::SetUp();
    if (IsSkipped()) return;
    manual_seed(5);
    weight = (randn({kOut, kIn}, on_gpu) * 0.1).detach().requires_grad_();
    bias = randn({kOut}, on_gpu).requires_grad_();
    x = randn({kRows, kIn}, on_gpu);
  }
  void TearDown() override { set_gemm_backend(GemmBackend::automatic); }

  // Output and gradients of a layer in an autocast region.
  std::vector<Bits> run(const Layer& layer, const Tensor& input, DType dtype,
                        bool with_bias) const {
    const Tensor b = with_bias ? bias : Tensor();
    Tensor y;
    {
      const amp::Autocast autocast(kCUDA, {.dtype = dtype});
      y = layer(input, weight, b);
      EXPECT_EQ(y.dtype(), dtype);
    }
    std::vector<Tensor> inputs{weight};
    if (with_bias) inputs.push_back(bias);
    manual_seed(6);
    const Tensor dy = randn(y.sizes()).to(kCUDA).to(dtype);
    std::vector<Bits> all{bits_of(y)};
    for (const Tensor& g : autograd::grad({y}, inputs, {dy})) all.push_back(bits_of(g));
    return all;
  }

  void expect_bits_of_a_cast(const Tensor& input) const {
    for (const Layer& layer : {Layer(linear), Layer(linear_relu)}) {
      for (const DType dtype : {kHalf, kBFloat16}) {
        for (const bool with_bias : {true, false}) {
          EXPECT_EQ(run(layer, input, dtype, with_bias),
                    run(layer, input.to(dtype), dtype, with_bias))
              << name(dtype) << (with_bias ? " bias" : "");
        }
      }
    }
  }

  CreationOptions on_gpu{.device = kCUDA};
  Tensor weight, bias, x;
};

TEST_F(RoundedInput, HasTheBitsOfACastInputForEveryShapeAndLayout) {
  set_gemm_backend(GemmBackend::small_product);  // a cast input takes the same kernel then
  expect_bits_of_a_cast(x);
  expect_bits_of_a_cast(x[3]);
  expect_bits_of_a_cast(x.reshape({2, kRows / 2, kIn}));
  expect_bits_of_a_cast(randn({kRows, kIn + 5}, on_gpu).slice(1, 2, kIn + 2));
  expect_bits_of_a_cast(randn({kIn, kRows}, on_gpu).t());
  expect_bits_of_a_cast(randn({kRows, 2 * kIn}, on_gpu).slice(1, 0, 2 * kIn, 2));
  expect_bits_of_a_cast(x.slice(0, 0, 1).expand({7, kIn}));
  expect_bits_of_a_cast(x.slice(0, 0, 0));
}

TEST_F(RoundedInput, HasTheBitsOfACastForSpecialValues) {
  set_gemm_backend(GemmBackend::small_product);
  const double specials[] = {kInf, -kInf, kNaN, -0.0, 65519, 65520, -1e30, 0x1p-24, 0x1p-25, 1e-40};
  for (std::int64_t i = 0; const double each : specials) {
    x[i].select(0, i + 7).fill_(each);
    ++i;
  }
  expect_bits_of_a_cast(x);
}

TEST_F(RoundedInput, LaunchesNoCast) {
  const auto launches_of = [&](const Tensor& input) {
    const amp::Autocast autocast(kCUDA);
    linear_relu(input, weight, bias);  // casts the parameters
    const std::int64_t before = detail::launches;
    linear_relu(input, weight, bias);
    return detail::launches - before;
  };
  EXPECT_EQ(launches_of(x), 1);
  Tensor y;
  {
    const amp::Autocast autocast(kCUDA);
    y = linear(x, weight, bias);
  }
  const Tensor dy = ones({kRows, kOut}, {.dtype = kHalf, .device = kCUDA});
  const std::int64_t before = detail::launches;
  autograd::grad({y}, {weight}, {dy});
  EXPECT_EQ(detail::launches - before, 2);  // the product, and the gradient's cast to float32
}

// With the rule of GemmBackend::automatic, too, by which cuBLASLt would multiply a cast input.
TEST_F(RoundedInput, IsCastByAnOpForAnObserverWithTheSameBits) {
  for (const Layer& layer : {Layer(linear), Layer(linear_relu)}) {
    for (const DType dtype : {kHalf, kBFloat16}) {
      const std::vector<Bits> fused = run(layer, x, dtype, true);
      NamesOfOps names;
      const OpObserverGuard guard(names);
      EXPECT_EQ(run(layer, x, dtype, true), fused);
      ASSERT_GE(names.ops.size(), 4U);
      EXPECT_EQ(names.ops[0], "to");
    }
  }
}

TEST_F(RoundedInput, AnInputThatRequiresGradIsCastAsBefore) {
  const Tensor leaf = x.detach().requires_grad_();
  const amp::Autocast autocast(kCUDA);
  const Tensor y = linear(leaf, weight, bias);
  const Tensor expected = linear(leaf.to(kHalf), weight, bias);
  EXPECT_EQ(bits_of(y), bits_of(expected));
  const Tensor dy = randn({kRows, kOut}, on_gpu).to(kHalf);
  const Tensor dx = autograd::grad({y}, {leaf}, {dy})[0];
  EXPECT_EQ(dx.dtype(), kFloat);
  EXPECT_EQ(bits_of(dx), bits_of(autograd::grad({expected}, {leaf}, {dy})[0]));
}

// Each use rounds the same float32 elements.
TEST_F(RoundedInput, MayHaveSeveralUses) {
  set_gemm_backend(GemmBackend::small_product);
  const Layer twice = [](const Tensor& input, const Tensor& w, const Tensor& b) {
    return linear(input, w, b) * linear_relu(input, w * 2, Tensor()) + sum(input.to(kHalf));
  };
  EXPECT_EQ(run(twice, x, kHalf, true), run(twice, x.to(kHalf), kHalf, true));
}

TEST_F(RoundedInput, CanBeDifferentiatedTwice) {
  set_gemm_backend(GemmBackend::small_product);
  const auto second = [&](const Tensor& input) {
    Tensor y;
    {
      const amp::Autocast autocast(kCUDA);
      y = linear(input, weight, bias);
    }
    const Tensor dw = autograd::grad({sum(y * y)}, {weight}, {}, {.create_graph = true})[0];
    return bits_of(autograd::grad({sum(dw * dw)}, {weight})[0]);
  };
  EXPECT_EQ(second(x), second(x.to(kHalf)));
}

// The kernel of the gradient reads the elements that forward read, or nothing.
TEST_F(RoundedInput, MustNotChangeBeforeBackward) {
  const amp::Autocast autocast(kCUDA);
  const Tensor y = linear(x, weight, bias);
  x.fill_(1);
  EXPECT_THROW(sum(y).backward(), std::runtime_error);
}

TEST_F(RoundedInput, WorksInInferenceModeAndWithItsTensors) {
  const auto fused = run(linear, x, kHalf, true);
  Tensor of_inference;
  {
    const InferenceMode guard;
    of_inference = x.clone();
    const amp::Autocast autocast(kCUDA);
    EXPECT_EQ(bits_of(linear(x, weight, bias)), fused[0]);
  }
  EXPECT_EQ(run(linear, of_inference, kHalf, true), fused);
}

TEST_F(RoundedInput, IsCapturedInAGraph) {
  const auto step = [&] {
    Tensor y;
    {
      const amp::Autocast autocast(kCUDA);
      y = linear_relu(x, weight, bias);
    }
    return std::vector{y, autograd::grad({y}, {weight}, {ones_like(y)})[0]};
  };
  const std::vector<Tensor> expected = step();
  std::vector<Tensor> captured;
  Graph graph;
  graph.capture([&] { captured = step(); });
  for (int i = 0; i < 2; ++i) {
    graph.replay();
    EXPECT_EQ(bits_of(captured[0]), bits_of(expected[0]));
    EXPECT_EQ(bits_of(captured[1]), bits_of(expected[1]));
  }
}

// The kernel would be slower than a cast and cuBLASLt, or does not take the layout.
TEST_F(RoundedInput, IsCastForLargeProducts) {
  const Tensor large = randn({2048, kIn}, on_gpu), w = randn({1024, kIn}, on_gpu);
  const amp::Autocast autocast(kCUDA);
  EXPECT_EQ(bits_of(linear(large, w)), bits_of(linear(large.to(kHalf), w)));
  EXPECT_EQ(bits_of(linear(x.t().contiguous().t(), weight, bias)),
            bits_of(linear(x.to(kHalf).t().contiguous().t(), weight, bias)));
}

TEST_F(RoundedInput, ErrorsNameTheCastDtypes) {
  const amp::Autocast autocast(kCUDA);
  EXPECT_THROW(linear(x, ones({kOut, kIn + 1}, on_gpu)), std::invalid_argument);
  EXPECT_THROW(linear(x, weight, ones({kOut + 1}, on_gpu)), std::invalid_argument);
  EXPECT_THROW(linear(x, weight.to(kDouble)), std::invalid_argument);
  EXPECT_THROW(linear(x, weight, bias.to(kDouble)), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad
