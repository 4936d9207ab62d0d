// The gradient of a linear's input waits for relu's backward. Whoever looks at gradients sees those
// of a pass whose ops run one by one, as they do while an observer watches.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/core/graph.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/engine/pending_product.h>

namespace halfgrad::detail {
namespace {

class Nobody : public OpObserver {
  void ran(const OpCall& /*call*/) override {}
};

// y = relu(x W1^T + b1), and a head that may read y as it likes.
struct NetOfThree {
  Tensor x, w1, b1, w2, b2, w3;
  bool fused = false;

  Tensor activation() const { return fused ? linear_relu(x, w1, b1) : relu(linear(x, w1, b1)); }
  std::vector<Tensor> parameters() const { return {x, w1, b1, w2, b2, w3}; }
  std::vector<Bits> take_gradients() const {
    std::vector<Bits> all;
    for (const Tensor& p : parameters()) {
      all.push_back(p.grad().defined() ? bits(p.grad()) : Bits());
      p.set_grad({});
    }
    return all;
  }
};

class PendingProductsInANet : public PendingProductTest {
 protected:
  // Runs `step`, which leaves gradients, with and without an observer.
  void expect_equal_gradients(const std::function<void(const NetOfThree&)>& step) const {
    for (const DType dtype : {kFloat, kHalf, kBFloat16}) {
      for (const bool fused : {false, true}) {
        SCOPED_TRACE(std::string(name(dtype)) + (fused ? " linear_relu" : " linear, relu"));
        manual_seed(5);
        const NetOfThree net{random({kRows, kWidth}, dtype).requires_grad_(),
                             parameter({kWidth, kWidth}, dtype),
                             parameter({kWidth}, dtype),
                             parameter({kWidth, kWidth}, dtype),
                             parameter({kWidth}, dtype),
                             parameter({kWidth, kWidth}, dtype),
                             fused};
        Nobody nobody;
        {
          const OpObserverGuard guard(nobody);
          step(net);
        }
        const std::vector<Bits> expected = net.take_gradients();
        step(net);
        EXPECT_EQ(net.take_gradients(), expected);
        EXPECT_FALSE(expected[1].empty());
      }
    }
  }
  Tensor cotangent(const Tensor& y) const {
    manual_seed(9);
    return random(y.sizes(), y.dtype());
  }
};
HALFGRAD_ON_DEVICES(PendingProductsInANet);

TEST_P(PendingProductsInANet, KeepTheBits) {
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor y = linear(relu(linear(n.activation(), n.w2, n.b2)), n.w3);
    y.backward(cotangent(y));
  });
}

// Fewer by relu's gradient, for which a hook makes the pass allocate memory of its own.
TEST_P(PendingProductsInANet, SaveAnAllocation) {
  for (const bool fused : {false, true}) {
    const NetOfThree net{random({kRows, kWidth}, kHalf),
                         parameter({kWidth, kWidth}, kHalf),
                         parameter({kWidth}, kHalf),
                         parameter({kWidth, kWidth}, kFloat),
                         parameter({kWidth}, kFloat),
                         {},
                         fused};
    const auto allocations = [&](bool hooked) {
      for (const Tensor& p : {net.x, net.w1, net.b1, net.w2, net.b2}) p.set_grad({});
      const Tensor h = net.activation();
      // The nodes of the casts run between those of the product and of relu.
      const Tensor y = linear(h, net.w2.to(kHalf), net.b2.to(kHalf)), dy = cotangent(y);
      if (hooked) h.register_hook([](const Tensor&) { return Tensor(); });
      const std::int64_t before = allocator::stats(device()).allocations;
      y.backward(dy);
      return allocator::stats(device()).allocations - before;
    };
    EXPECT_LT(allocations(false), allocations(true));
  }
}

TEST_P(PendingProductsInANet, KeepTheBitsOfNaNAndInfinity) {
  expect_equal_gradients([&](const NetOfThree& n) {
    {
      const NoGradGuard no_grad;
      n.b1[3].fill_(std::nan(""));
      n.b1[4].fill_(kInf);
    }
    const Tensor y = linear(n.activation(), n.w2, n.b2);
    Tensor dy = cotangent(y);
    dy[0][0].fill_(kInf);
    y.backward(dy);
  });
}

TEST_P(PendingProductsInANet, AreSeenByHooks) {
  std::vector<Bits> seen;
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor h = n.activation();
    std::optional<Tensor> held;
    h.register_hook([&](const Tensor& g) {
      held = g;
      return Tensor();
    });
    const Tensor y = linear(h, n.w2, n.b2);
    y.backward(cotangent(y));
    seen.push_back(bits(*held));  // dY, not relu's gradient
  });
  for (std::size_t i = 0; i + 1 < seen.size(); i += 2) EXPECT_EQ(seen[i], seen[i + 1]);
}

TEST_P(PendingProductsInANet, AreRetained) {
  std::vector<Bits> seen;
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor h = n.activation();
    h.retain_grad();
    const Tensor y = linear(h, n.w2, n.b2);
    y.backward(cotangent(y));
    seen.push_back(bits(h.grad()));
  });
  for (std::size_t i = 0; i + 1 < seen.size(); i += 2) EXPECT_EQ(seen[i], seen[i + 1]);
}

TEST_P(PendingProductsInANet, AreAddedUp) {
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor h = n.activation();
    const Tensor y = linear(h, n.w2, n.b2) + linear(h, n.w3);
    y.backward(cotangent(y));
  });
  expect_equal_gradients([&](const NetOfThree& n) {  // a residual connection
    const Tensor h = n.activation();
    const Tensor y = linear(h, n.w2, n.b2) + h;
    y.backward(cotangent(y));
  });
  expect_equal_gradients([&](const NetOfThree& n) {  // its own consumer hands it to two nodes
    const Tensor h = n.activation() + n.activation();
    const Tensor y = linear(h, n.w2, n.b2);
    y.backward(cotangent(y));
  });
}

TEST_P(PendingProductsInANet, GoThroughViewsAndToLeaves) {
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor h = n.activation().view({2, kRows / 2, kWidth});
    const Tensor y = linear(h, n.w2, n.b2);
    y.backward(cotangent(y));
  });
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor h = linear_relu(n.x.view({2, kRows / 2, kWidth}), n.w1, n.b1);
    const Tensor y = linear(h, n.w2, n.b2);
    y.backward(cotangent(y));
  });
}

TEST_P(PendingProductsInANet, AreReturnedByGrad) {
  std::vector<Bits> seen;
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor h = n.activation();
    const Tensor y = linear(h, n.w2, n.b2);
    for (const Tensor& g :
         autograd::grad({y}, {h, n.x, n.w1}, {cotangent(y)}, {.retain_graph = true})) {
      seen.push_back(bits(g));
    }
    y.backward(cotangent(y));
  });
  for (std::size_t i = 0; i + 5 < seen.size(); i += 6) {
    for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(seen[i + k], seen[i + 3 + k]);
  }
}

TEST_P(PendingProductsInANet, DifferentiateTwice) {
  expect_equal_gradients([&](const NetOfThree& n) {
    const Tensor y = linear(n.activation(), n.w2, n.b2);
    const Tensor g =
        autograd::grad({y}, {n.x}, {cotangent(y)}, {.retain_graph = true, .create_graph = true})[0];
    (g * g).backward(cotangent(g));
  });
}

// Modes in which the pass looks at every gradient, or runs twice.
TEST_P(PendingProductsInANet, KeepTheBitsOfAnomalyModeAndOfARetainedGraph) {
  expect_equal_gradients([&](const NetOfThree& n) {
    const autograd::DetectAnomalyGuard anomaly;
    const Tensor y = linear(n.activation(), n.w2, n.b2);
    y.backward(cotangent(y), true);
    y.backward(cotangent(y));
  });
}

// A hook of relu's output, or of another branch, runs between the product's node and relu's. What
// it changes must not reach the product.
TEST_P(PendingProductsInANet, DoNotSeeLaterChangesOfTheirOperands) {
  for (const bool of_relu : {false, true}) {
    expect_equal_gradients([&](const NetOfThree& n) {
      const Tensor w2 = n.w2.detach().clone().requires_grad_();
      const Tensor h = n.activation(), other = n.b2 * 1;
      (of_relu ? h : other).register_hook([&](const Tensor&) {
        w2.array().fill_(0);
        return Tensor();
      });
      const Tensor y = of_relu ? linear(h, w2) : linear(h, w2) + other;
      y.backward(cotangent(y));
      EXPECT_EQ(w2[0][0].item(), 0);
      EXPECT_NE(n.x.grad().abs().sum().item(), 0);
    });
  }
}

TEST_P(PendingProductsInANet, AreCaptured) {
  for (const bool fused : {false, true}) {
    manual_seed(5);
    const NetOfThree net{random({kRows, kWidth}, kHalf).requires_grad_(),
                         parameter({kWidth, kWidth}, kHalf),
                         parameter({kWidth}, kHalf),
                         parameter({kWidth, kWidth}, kHalf),
                         parameter({kWidth}, kHalf),
                         parameter({kWidth, kWidth}, kHalf),
                         fused};
    const Tensor dy = random({kRows, kWidth}, kHalf);
    const auto step = [&] {
      for (const Tensor& p : net.parameters()) p.set_grad({});
      linear(relu(linear(net.activation(), net.w2, net.b2)), net.w3).backward(dy);
    };
    step();
    Graph graph(device());
    graph.capture(step);
    net.w2.array().fill_(0.25);
    graph.replay();
    std::vector<Bits> replayed;
    for (const Tensor& p : net.parameters()) replayed.push_back(bits(p.grad()));
    Nobody nobody;
    const OpObserverGuard guard(nobody);
    step();
    EXPECT_EQ(net.take_gradients(), replayed);
  }
}

}  // namespace
}  // namespace halfgrad::detail
