#include <stdexcept>

#include <gtest/gtest.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/nn/embedding.h>
#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/sequential.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::nn {
namespace {

using Names = std::vector<std::string>;

struct Tied : Callable<Tied> {
  Tied() : Callable("Tied") {}
  Tensor forward(const Tensor& tokens) const { return head(table(tokens)); }

  Embedding table = register_module("table", Embedding(5, 3));
  Linear head = register_module("head", Linear(table.weight));
};

TEST(TiedWeights, AreListedOnceAndSavedUnderBothNames) {
  const Tied net;
  EXPECT_TRUE(net.head.weight.is_same(net.table.weight));
  EXPECT_EQ(net.named_parameters().keys(), (Names{"table.weight"}));
  EXPECT_EQ(net.state_dict().keys(), (Names{"table.weight", "head.weight"}));
}

TEST(TiedWeights, GetTheSumOfBothGradients) {
  const Tied net;
  const Tensor tokens = tensor({1, 4});
  net(tokens).sum().backward();
  const Tensor table = net.table.weight.detach().clone().requires_grad_();
  const Tensor head = net.head.weight.detach().clone().requires_grad_();
  linear(embedding(table, tokens), head).sum().backward();
  EXPECT_TRUE(equal(net.table.weight.grad(), table.grad() + head.grad()));
}

TEST(TiedWeights, StayTiedWhenAStateIsLoadedAndTheModelIsConverted) {
  Tied first, second;
  second.load_state_dict(first.state_dict());
  EXPECT_TRUE(equal(first.table.weight, second.head.weight));
  second.to(kHalf);
  EXPECT_TRUE(second.head.weight.is_same(second.table.weight));
  EXPECT_EQ(second.head.weight.dtype(), kHalf);
}

TEST(TiedWeights, MayReplaceAWeightThatExists) {
  Linear head(3, 5);
  const Embedding table(5, 3);
  const Tensor old = head.weight;
  head.weight = head.replace_parameter("weight", table.weight);
  EXPECT_EQ(head.named_parameters().keys(), (Names{"weight", "bias"}));
  EXPECT_TRUE(head.parameters()[0].is_same(table.weight));
  EXPECT_TRUE(equal(head(ones({1, 3})), linear(ones({1, 3}), table.weight, head.bias)));
  EXPECT_FALSE(head.weight.is_same(old));
}

TEST(LayersOfTensors, KeepTheirValuesAndRequiresGrad) {
  const Tensor weight = randn({4, 2}), bias = randn({4}).requires_grad_();
  const Linear layer(weight, bias);
  EXPECT_TRUE(layer.weight.is_same(weight));
  EXPECT_FALSE(layer.weight.requires_grad());
  EXPECT_TRUE(layer.bias.requires_grad());
  EXPECT_TRUE(equal(layer(ones({1, 2})), linear(ones({1, 2}), weight, bias)));
  const Embedding table(weight, -1);
  EXPECT_TRUE(equal(table(tensor({2, 0})), weight.index_select(0, tensor({2, 0}))));
}

TEST(LayersOfTensors, RefuseOtherShapes) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              Linear(ones({4, 2}), ones({2}));
            }),
            "Linear: expected weight [out, in] and bias [out], got [4, 2] and [2]");
  EXPECT_EQ(message_of<std::invalid_argument>([] { Linear{ones({4})}; }),
            "Linear: expected weight [out, in] and bias [out], got [4] and none");
  EXPECT_EQ(message_of<std::invalid_argument>([] { Embedding{ones({4})}; }),
            "Embedding: expected weight [num_embeddings, embedding_dim], got [4]");
  EXPECT_THROW(Embedding(ones({4, 2}), 4), std::invalid_argument);
}

TEST(Module, ReplacesAndRemovesEntriesInTheirPlaces) {
  Module net("Net");
  net.register_parameter("a", ones({1}));
  net.register_parameter("b", ones({2}));
  net.register_buffer("c", zeros({1}));
  net.register_module("d", Linear(1, 1));
  const Tensor longer = net.replace_parameter("a", ones({3}).requires_grad_());
  EXPECT_TRUE(net.parameters()[0].is_same(longer));
  net.replace_buffer("c", ones({4}));
  EXPECT_EQ(net.buffers()[0].sizes(), Shape{4});
  net.replace_module("d", Linear(2, 3, {.bias = false}));
  EXPECT_EQ(net.state_dict().keys(), (Names{"a", "b", "c", "d.weight"}));
  for (const char* name : {"a", "c", "d"}) net.unregister(name);
  EXPECT_EQ(net.state_dict().keys(), (Names{"b"}));
}

TEST(Module, RefusesToReplaceWhatItDoesNotHave) {
  Module net("Net");
  net.register_parameter("a", ones({1}));
  EXPECT_EQ(message_of<std::invalid_argument>([&] { net.replace_buffer("a", ones({1})); }),
            "replace_buffer: expected a known name, got \"a\"");
  EXPECT_EQ(message_of<std::invalid_argument>([&] { net.unregister("b"); }),
            "unregister: expected a known name, got \"b\"");
  const Tensor x = ones({1}).requires_grad_();
  EXPECT_THROW(net.replace_parameter("a", x * 2), std::invalid_argument);
  Module child("Child");
  net.register_module("child", child);
  EXPECT_THROW(child.register_module("up", net), std::invalid_argument);
  child.register_module("own", Module("Own"));
  EXPECT_THROW(child.replace_module("own", net), std::invalid_argument);
}

TEST(StateDict, LoadsViewsOfTheModulesOwnTensors) {
  struct Pair : Callable<Pair> {
    Tensor a = register_parameter("a", tensor({{1.0F, 2.0F}, {3.0F, 4.0F}}));
    Tensor b = register_parameter("b", tensor({{5.0F, 6.0F}, {7.0F, 8.0F}}));
  };
  Pair pair;
  const StateDict swapped{{"a", pair.b.detach()}, {"b", pair.a.detach()}};
  pair.load_state_dict(swapped);
  EXPECT_EQ(pair.a.to_vector<double>(), (std::vector<double>{5, 6, 7, 8}));
  EXPECT_EQ(pair.b.to_vector<double>(), (std::vector<double>{1, 2, 3, 4}));
  const StateDict transposed{{"a", pair.a.detach().t()}, {"b", pair.b.detach()}};
  pair.load_state_dict(transposed);
  EXPECT_EQ(pair.a.to_vector<double>(), (std::vector<double>{5, 7, 6, 8}));
  EXPECT_EQ(pair.b.to_vector<double>(), (std::vector<double>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace halfgrad::nn
