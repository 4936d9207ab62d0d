#include <cstddef>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/side_work.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/zero_grad.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/devices.h>
#include <halfgrad/tests/optim/parameters.h>

/// Captured backward passes run weight gradients on a second stream. The gradients have the bits of
/// eager passes, whatever reads them in between.
namespace halfgrad {
namespace {

using testing::bytes_of;

class SideWorkTest : public OnCuda {};

constexpr std::int64_t kWidth = 24;

/// Four layers with float32 or 16-bit parameters.
struct SideWorkLayers {
  explicit SideWorkLayers(DType stored) {
    manual_seed(1);
    for (int i = 0; i < 4; ++i) {
      weights.push_back((randn({kWidth, kWidth}) * 0.3).to(stored).to(kCUDA).requires_grad_());
      biases.push_back(randn({kWidth}).to(stored).to(kCUDA).requires_grad_());
    }
  }

  Tensor forward(const Tensor& x) const {
    Tensor y = x.to(kHalf);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      y = relu(linear(y, weights[i].to(kHalf), biases[i].to(kHalf)));
    }
    return y.sum(kFloat);
  }
  void zero() {
    for (const auto* list : {&weights, &biases}) {
      for (const Tensor& p : *list) zero_grad(p, true);
    }
  }
  std::vector<std::vector<std::byte>> gradients() const {
    std::vector<std::vector<std::byte>> all;
    for (const auto* list : {&weights, &biases}) {
      for (const Tensor& p : *list) {
        if (p.grad().defined()) all.push_back(bytes_of(p.grad().array()));
      }
    }
    return all;
  }

  std::vector<Tensor> weights, biases;
};

struct Pass {
  const char* what;
  std::function<void(SideWorkLayers&, const Tensor& x)> run;
};

const std::vector<Pass>& passes() {
  static const std::vector<Pass> all = {
      {"plain",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         net.forward(x).backward();
       }},
      {"two passes are summed",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         net.forward(x).backward();
         net.forward(x * 2).backward();
       }},
      {"a weight is used twice",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         const std::vector<Tensor> own = net.weights;
         net.weights[3] = net.weights[1];
         net.forward(x).backward();
         net.weights = own;
       }},
      {"the weight is computed",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         const std::vector<Tensor> own = net.weights;
         for (Tensor& w : net.weights) w = w * 0.5 + 0.01;
         net.forward(x).backward();
         net.weights = own;
       }},
      {"a bias of one element",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         const std::vector<Tensor> own = net.biases;
         for (Tensor& b : net.biases) b = b.slice(0, 0, 1);
         net.forward(x).backward();
         net.biases = own;
       }},
      {"hooks read",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         std::vector<HookHandle> hooks;
         for (const Tensor& w : net.weights) {
           hooks.push_back(w.register_hook([](const Tensor& g) { return g * 0.5; }));
         }
         net.forward(x).backward();
         for (HookHandle& hook : hooks) hook.remove();
       }},
      {"hooks on casts read",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         Tensor y = x.to(kHalf);
         for (std::size_t i = 0; i < net.weights.size(); ++i) {
           const Tensor w = net.weights[i].to(kHalf);
           if (!w.is_leaf()) w.register_hook([](const Tensor& g) { return g + g; });
           y = linear_relu(y, w, net.biases[i].to(kHalf));
         }
         y.sum(kFloat).backward();
       }},
      {"a clone is summed with the rest",
       [](SideWorkLayers& net, const Tensor& x) {
         net.zero();
         (net.forward(x) + net.weights[2].to(kFloat).square().sum()).backward();
       }},
  };
  return all;
}

TEST_F(SideWorkTest, GivesTheBitsOfEagerPasses) {
  for (const DType stored : {kFloat, kHalf}) {
    for (const Pass& pass : passes()) {
      SCOPED_TRACE(pass.what);
      SideWorkLayers eager(stored), captured(stored);
      manual_seed(2);
      const Tensor x = randn({40, kWidth}).to(kCUDA);
      pass.run(eager, x);
      pass.run(captured, x);
      Graph graph(kCUDA);
      graph.capture([&] { pass.run(captured, x); });
      for (int replay = 0; replay < 3; ++replay) {
        x.array().copy_(randn({40, kWidth}).to(kCUDA).array());
        graph.replay();
        pass.run(eager, x);
        ASSERT_EQ(captured.gradients(), eager.gradients()) << replay;
      }
    }
  }
}

TEST_F(SideWorkTest, IsEnabledInCapturesOnly) {
  EXPECT_EQ(Graph::side_stream(), nullptr);
  const auto is_enabled = [](bool wanted) {
    const detail::SideWork work(wanted);
    return detail::SideWork::is_enabled();
  };
  EXPECT_FALSE(is_enabled(true));
  Graph graph(kCUDA);
  graph.capture([&] {
    EXPECT_FALSE(detail::SideWork::is_enabled());
    EXPECT_TRUE(is_enabled(true));
    EXPECT_FALSE(is_enabled(false));
  });
  EXPECT_EQ(Graph::side_stream(), nullptr);
}

TEST_F(SideWorkTest, RunsOnTheSideStreamUntilItIsJoined) {
  const Array operand = Array::full({8}, 3, kFloat, kCUDA);
  Array result;
  Graph graph(kCUDA);
  graph.capture([&] {
    const detail::SideWork work(true);
    const Stream main = current_stream(kCUDA);
    detail::SideWork::run({operand}, [&] {
      EXPECT_FALSE(current_stream(kCUDA) == main);
      result = operand.clone();
      return std::vector{result};
    });
    EXPECT_TRUE(current_stream(kCUDA) == main);
    EXPECT_TRUE(work.is_pending(Tensor(result)));
    EXPECT_FALSE(work.is_pending(Tensor(operand)));
    detail::SideWork::join();
    EXPECT_FALSE(work.is_pending(Tensor(result)));
  });
  graph.replay();
  EXPECT_EQ(result.select(0, 7).item(), 3);
}

}  // namespace
}  // namespace halfgrad
