// Sequential runs a Linear and the ReLU after it as one op on a GPU, where nobody can tell.
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/amp/autocast.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/random.h>
#include <halfgrad/nn/activation.h>
#include <halfgrad/nn/functional.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/sequential.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::nn {
namespace {

using Bits = std::vector<std::uint64_t>;

// The elements as bit patterns: -0 differs from 0, and every NaN is the same.
Bits bits_of(const Tensor& t) {
  Bits all;
  for (const double x : t.to_vector<double>()) {
    all.push_back(std::isnan(x) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(x));
  }
  return all;
}

class OpNames : public OpObserver {
 public:
  std::vector<std::string> ops;

 private:
  void ran(const OpCall& call) override {
    if (!call.in_backward) ops.emplace_back(call.op);
  }
};

class LinearThenRelu : public OnDevice {
 protected:
  Sequential pair() const {
    manual_seed(2);
    return Sequential(Linear(16, 8, {.device = device()}), ReLU());
  }
  std::string grad_fn_of(const Sequential& model) const {
    return model(ones({4, 16}, {.device = device()})).grad_fn_name();
  }
};
HALFGRAD_ON_DEVICES(LinearThenRelu);

// Layers whose types only look like those of a pair.
struct OwnLinear : Linear {
  using Linear::Linear;
};
struct OwnRelu : ReLU {
  using ReLU::ReLU;
};

TEST_P(LinearThenRelu, IsOneOpOnAGpu) {
  const Linear layer(16, 8, {.device = device()});
  const char* const expected = device().is_cuda() ? "linear_relu" : "relu";
  EXPECT_EQ(grad_fn_of(pair()), expected);
  EXPECT_EQ(grad_fn_of(Sequential(Linear(16, 16, {.device = device()}), pair())), expected);
  EXPECT_EQ(grad_fn_of(Sequential(OwnLinear(16, 8, LinearOptions{.device = device()}), ReLU())),
            "relu");
  EXPECT_EQ(grad_fn_of(Sequential(layer, OwnRelu())), "relu");
  EXPECT_EQ(grad_fn_of(Sequential(layer, [](const Tensor& x) { return relu(x); })), "relu");
  EXPECT_EQ(grad_fn_of(Sequential(ReLU(), layer)), "linear");
  EXPECT_EQ(grad_fn_of(Sequential(layer, Identity(), ReLU())), "relu");
}

TEST_P(LinearThenRelu, ComputesWithTheParametersThatTheLayerHasNow) {
  Sequential model = pair();
  model.at<Linear>(0).weight = zeros({8, 16}, {.device = device()});
  model.at<Linear>(0).bias = full({8}, 3.0, {.device = device()});
  EXPECT_EQ(model(ones({1, 16}, {.device = device()})).sum().item(), 24);
  model.at<Linear>(0).bias = full({2, 8}, 1.0, {.device = device()});  // no row: added apart
  EXPECT_EQ(model(ones({2, 16}, {.device = device()})).sum().item(), 16);
}

TEST_P(LinearThenRelu, IsTwoOpsForObserversAndInAnomalyMode) {
  OpNames names;
  {
    const OpObserverGuard guard(names);
    EXPECT_EQ(grad_fn_of(pair()), "relu");
  }
  EXPECT_EQ(names.ops, (std::vector<std::string>{"linear", "relu"}));
  const autograd::DetectAnomalyGuard anomaly;
  EXPECT_EQ(grad_fn_of(pair()), "relu");
}

// A rule that treats ops by name, and does not say what it does.
class ByName : public CastRule {
 public:
  void cast(const char* op, Precision /*precision*/, std::span<Tensor> /*operands*/) override {
    ops.emplace_back(op);
  }
  std::unique_ptr<CastRule> copy() const override { return std::make_unique<ByName>(*this); }

  std::vector<std::string> ops;
};

TEST_P(LinearThenRelu, IsTwoOpsForARuleThatMayTellThemApart) {
  ByName rule;
  const halfgrad::detail::CastRuleScope scope(&rule);
  EXPECT_EQ(grad_fn_of(pair()), "relu");
  EXPECT_EQ(rule.ops, (std::vector<std::string>{"linear", "relu"}));
}

TEST_P(LinearThenRelu, ThrowsTheErrorsOfLinear) {
  const Sequential model = pair();
  const auto message = [&](const Shape& sizes) {
    return message_of<std::invalid_argument>([&] { model(zeros(sizes, {.device = device()})); });
  };
  EXPECT_TRUE(message({4, 5}).starts_with("Sequential.0 (Linear): linear: expected"))
      << message({4, 5});
  EXPECT_NE(message_of([&] { model(Tensor()); }).find("undefined"), std::string::npos);
}

// An in-place change between forward and backward is an error only if a gradient needs the tensor.
TEST_P(LinearThenRelu, SavesWhatLinearSaves) {
  const Sequential model = pair();
  const Linear layer = Sequential(model).at<Linear>(0);
  const Tensor x = ones({4, 16}, {.device = device()});
  const Tensor y = model(x);
  layer.bias.array().fill_(1);
  layer.bias.array().storage()->bump_version();
  EXPECT_NO_THROW(y.sum().backward());
  layer.weight.requires_grad_(false);
  const Tensor z = model(x);
  x.fill_(5);
  EXPECT_NO_THROW(z.sum().backward());
}

struct Trained {
  std::vector<Bits> values;
  friend bool operator==(const Trained&, const Trained&) = default;
};

// Three steps of fp16 or bf16 autocast with a scaler: losses, gradients, outputs.
class LinearThenReluInTraining : public LinearThenRelu {
 protected:
  // relu keeps a NaN of the first layer's bias; a large scale overflows in the gradients.
  Trained train(DType dtype, double scale, double first_bias) const {
    manual_seed(4);
    Sequential model(Linear(16, 32), ReLU(), Linear(32, 32), ReLU(), Linear(32, 4));
    model.to(device());
    {
      const NoGradGuard no_grad;
      model.at<Linear>(0).bias[1].fill_(first_bias);
      model.at<Linear>(2).weight[0].mul_(1e-6);  // underflows to 0 or -0
      model.at<Linear>(2).bias[0].fill_(0);
    }
    const Tensor x = randn({24, 16}).to(device()).requires_grad_();
    const Tensor target = randint(4, {24}).to(device());
    amp::GradScaler scaler({.init_scale = scale});
    Trained result;
    for (int step = 0; step < 3; ++step) {
      model.zero_grad();
      x.set_grad({});
      Tensor loss, out;
      {
        const amp::Autocast autocast(device().type(), {.dtype = dtype});
        out = model(x);
        loss = functional::cross_entropy(out, target);
      }
      scaler.scale(loss).backward();
      result.values.push_back(bits_of(out));
      result.values.push_back(bits_of(x.grad()));
      const NoGradGuard no_grad;
      for (const Tensor& p : model.parameters()) {
        result.values.push_back(bits_of(p.grad()));
        p.add_(p.grad(), -0.1 / scale);
      }
    }
    return result;
  }
};
HALFGRAD_ON_DEVICES(LinearThenReluInTraining);

TEST_P(LinearThenReluInTraining, HasTheBitsOfTwoOps) {
  for (const DType dtype : {kHalf, kBFloat16}) {
    for (const double scale : {1024.0, 0x1p24}) {
      for (const double bias : {0.1, static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
        SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(bias));
        const Trained together = train(dtype, scale, bias);
        OpNames names;
        const OpObserverGuard guard(names);
        EXPECT_EQ(train(dtype, scale, bias), together);
      }
    }
  }
}

TEST_P(LinearThenReluInTraining, IsCaptured) {
  const Sequential model = pair();
  const Tensor x = randn({4, 16}).to(device()), dy = randn({4, 8}).to(device());
  const Tensor out = zeros({4, 8}, {.device = device()});
  const auto step = [&] {
    for (const Tensor& p : model.parameters()) p.set_grad({});
    const amp::Autocast autocast(device().type(), {.dtype = kHalf});
    const Tensor y = model(x);
    out.array().copy_(y.array());
    y.backward(dy.to(kHalf));
  };
  step();
  Graph graph(device());
  graph.capture(step);
  x.array().copy_(randn({4, 16}).to(device()).array());
  graph.replay();
  std::vector<Bits> replayed{bits_of(out)};
  for (const Tensor& p : model.parameters()) replayed.push_back(bits_of(p.grad()));
  OpNames names;
  const OpObserverGuard guard(names);
  step();
  std::vector<Bits> expected{bits_of(out)};
  for (const Tensor& p : model.parameters()) expected.push_back(bits_of(p.grad()));
  EXPECT_EQ(replayed, expected);
}

}  // namespace
}  // namespace halfgrad::nn
