#include <halfgrad/autograd/checkpoint.h>

#include <memory>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/core/random.h>
#include <halfgrad/testing/gradcheck.h>
#include <halfgrad/tests/autograd/table/doubles.h>

/// A checkpoint gives the same gradients bit for bit, and needs only the memory of one segment.
namespace halfgrad {
namespace {

using utils::checkpoint;

struct Layer {
  Tensor weight;
  Tensor operator()(const Tensor& x) const { return dropout(tanh(matmul(x, weight)), 0.5, true); }
};

struct Net {
  std::vector<Layer> layers;
  Tensor input;

  explicit Net(const CreationOptions& leaf) : input(randn({8, 4}, leaf)) {
    for (int i = 0; i < 3; ++i) layers.push_back({randn({4, 4}, leaf)});
  }
  Tensor loss(bool checkpointed) const {
    Tensor x = input;
    for (const Layer& layer : layers) x = checkpointed ? checkpoint(layer, x) : layer(x);
    return sum(x * x);
  }
  std::vector<Tensor> leaves() const {
    std::vector<Tensor> all{input};
    for (const Layer& layer : layers) all.push_back(layer.weight);
    return all;
  }
};

class Checkpoint : public TensorsOnDevice {
 protected:
  CreationOptions leaf(DType dtype = kFloat) const {
    return {.dtype = dtype, .device = device(), .requires_grad = true};
  }
};
HALFGRAD_ON_DEVICES(Checkpoint);

std::vector<Doubles> gradients(const std::vector<Tensor>& leaves) {
  std::vector<Doubles> result;
  for (Tensor leaf : leaves) {
    result.push_back(leaf.grad().to_vector<double>());
    leaf.set_grad({});
  }
  return result;
}

TEST_P(Checkpoint, GivesTheSameBitsAndLeavesTheGeneratorAlone) {
  manual_seed(3);
  const Net net(leaf(kDouble));
  const RandomKey start = default_generator().get_state();
  const Tensor plain = net.loss(false);
  plain.backward();
  const auto expected = gradients(net.leaves());
  const RandomKey end = default_generator().get_state();

  default_generator().set_state(start);
  const Tensor loss = net.loss(true);
  EXPECT_EQ(loss.item(), plain.item());
  loss.backward();
  EXPECT_EQ(gradients(net.leaves()), expected);
  EXPECT_EQ(default_generator().get_state().stream, end.stream);
}

TEST_P(Checkpoint, RunsTwiceAndOnceWithoutGradients) {
  const auto runs = std::make_shared<int>(0);
  const auto square = [runs](const Tensor& x) {
    ++*runs;
    return x * x;
  };
  const Tensor x = full({}, 3.0, leaf());
  {
    const NoGradGuard no_grad;
    EXPECT_FALSE(checkpoint(square, x).requires_grad());
  }
  EXPECT_FALSE(checkpoint(square, x.detach()).requires_grad());
  EXPECT_EQ(*runs, 2);
  checkpoint(square, x).backward();
  EXPECT_EQ(*runs, 4);
  EXPECT_EQ(x.grad().item(), 6);
}

// Without a checkpoint ten ops save an array of 2 kB each; with it only the input is saved.
TEST(CheckpointOnCpu, KeepsOnlyTheInput) {
  const Tensor x = randn({256}, {.dtype = kDouble, .requires_grad = true});
  const auto chain = [](Tensor y) {
    for (int i = 0; i < 10; ++i) y = tanh(y);
    return y;
  };
  const auto kept = [&](bool checkpointed) {
    const auto before = allocator::stats(kCPU).current;
    const Tensor y = checkpointed ? checkpoint(chain, x) : chain(x);
    return allocator::stats(kCPU).current - before;
  };
  EXPECT_EQ(kept(true), 256 * 8);
  EXPECT_EQ(kept(false), 10 * 256 * 8);
}

TEST_P(Checkpoint, TakesAndReturnsSeveralTensors) {
  const Tensor a = full({2}, 3.0, leaf(kDouble));
  const Tensor b = full({2}, 5.0, in(kDouble));
  const auto outputs = checkpoint(
      [](const Tensor& x, const Tensor& y) {
        return std::vector<Tensor>{x * y, x > y, x + y};
      },
      a, b);
  EXPECT_FALSE(outputs[1].requires_grad());
  (sum(outputs[2]) * 2.0).backward();  // output 0 gets no gradient
  EXPECT_EQ(a.grad().to_vector<double>(), (Doubles{2, 2}));
  sum(checkpoint([](const Tensor& x, const Tensor& y) { return x * y; }, a, a)).backward();
  EXPECT_EQ(a.grad().to_vector<double>(), (Doubles{8, 8}));
}

TEST_P(Checkpoint, GradAndSecondDerivatives) {
  const Tensor w = full({3}, 0.5, leaf(kDouble));
  const Tensor x = tensor({0.1, -0.2, 0.3}, in(kDouble)).requires_grad_();
  // The weight is used before the segment, too: its gradient must not be counted twice.
  const auto f = [](const std::vector<Tensor>& in) {
    const Tensor& weight = in[1];
    return checkpoint([weight](const Tensor& h) { return exp(h * weight) * weight; },
                      in[0] * weight);
  };
  EXPECT_TRUE(autograd::gradcheck(f, {x, w}));
  EXPECT_TRUE(autograd::gradgradcheck(f, {x, w}));
  const auto gradient = [&](bool create_graph) {
    return autograd::grad({sum(f({x, w}))}, {w}, {}, {.create_graph = create_graph})[0];
  };
  EXPECT_EQ(gradient(true).to_vector<double>(), gradient(false).to_vector<double>());
  EXPECT_FALSE(w.grad().defined());
}

TEST_P(Checkpoint, GraphsMayBeUsedAgain) {
  const Tensor x = full({}, 2.0, leaf());
  const Tensor y = checkpoint([](const Tensor& z) { return z * z * z; }, x);
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  EXPECT_EQ(x.grad().item(), 24);
  EXPECT_THROW(y.backward(), std::runtime_error);
}

// w is computed outside the segment: x gets its gradient from both uses of w, and from each once.
TEST_P(Checkpoint, ReachesCapturedTensors) {
  const Tensor x = full({}, 2.0, leaf());
  const Tensor w = x * 3.0;
  const Tensor y = checkpoint([w](const Tensor& z) { return z * w; }, full({}, 5.0, in(kFloat)));
  (y + w).backward();
  EXPECT_EQ(x.grad().item(), 3 * 5 + 3);
}

TEST_P(Checkpoint, NoticesChanges) {
  Tensor x = full({}, 2.0, leaf()), w = full({}, 3.0, leaf());
  for (Tensor* changed : {&x, &w}) {
    const Tensor y = checkpoint([w](const Tensor& z) { return z * w; }, x);
    {
      const NoGradGuard no_grad;
      changed->add_(1.0);
    }
    EXPECT_THROW(y.backward(), std::runtime_error);
  }
  const auto runs = std::make_shared<int>(0);
  const auto growing = [runs, this](const Tensor& z) { return z * ones({++*runs}, in(kFloat)); };
  EXPECT_THROW(sum(checkpoint(growing, x)).backward(), std::runtime_error);
}

TEST_P(Checkpoint, DoesNothingIfEverySourceWasFrozen) {
  const auto runs = std::make_shared<int>(0);
  const Tensor w = full({}, 3.0, leaf());
  const Tensor y = checkpoint(
      [w, runs](const Tensor& z) {
        ++*runs;
        return z * w;
      },
      full({}, 5.0, in(kFloat)));
  w.requires_grad_(false);
  y.backward();
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(*runs, 1);
}

TEST_P(Checkpoint, ExceptionsOfTheSecondRunReachTheCaller) {
  const auto runs = std::make_shared<int>(0);
  const Tensor x = full({}, 2.0, leaf());
  const RandomKey before = default_generator().get_state();
  const Tensor y = checkpoint(
      [runs](const Tensor& z) {
        if (++*runs == 2) throw std::domain_error("second run");
        return z * z;
      },
      x);
  EXPECT_THROW(y.backward(), std::domain_error);
  EXPECT_EQ(default_generator().get_state().stream, before.stream);
  EXPECT_TRUE(GradMode::is_enabled());
}

}  // namespace
}  // namespace halfgrad
