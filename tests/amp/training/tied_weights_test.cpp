#include <gtest/gtest.h>
#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/nn.h>
#include <halfgrad/optim/optim.h>

namespace halfgrad::amp {
namespace {

struct Tied : nn::Callable<Tied> {
  Tied() : Callable("Tied") {}
  Tensor forward(const Tensor& tokens) const { return head(table(tokens)); }

  nn::Embedding table = register_module("table", nn::Embedding(5, 3));
  nn::Linear head = register_module("head", nn::Linear(table.weight));
};

TEST(TiedWeights, AreUnscaledAndUpdatedOnce) {
  const Tied scaled, plain;
  scaled.table.weight.array().copy_(plain.table.weight.array());
  optim::SGD by_scaler(scaled.parameters(), {.lr = 0.5}), by_hand(plain.parameters(), {.lr = 0.5});
  GradScaler scaler({.init_scale = 1024});
  const Tensor tokens = tensor({0, 3});
  for (int step = 0; step < 3; ++step) {
    by_scaler.zero_grad();
    scaler.scale(scaled(tokens).square().mean()).backward();
    scaler.unscale_(by_scaler);
    scaler.step(by_scaler);
    scaler.update();
    by_hand.zero_grad();
    plain(tokens).square().mean().backward();
    by_hand.step();
    EXPECT_TRUE(equal(scaled.table.weight, plain.table.weight)) << step;
  }
  EXPECT_EQ(by_scaler.parameters().size(), 1U);
}

}  // namespace
}  // namespace halfgrad::amp
