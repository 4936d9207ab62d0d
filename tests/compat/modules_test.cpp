#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/tests/message_of.h>

// Modules as programs for libtorch write them, where `torch` names this library.
namespace {

namespace torch = halfgrad;
namespace nn = torch::nn;
using torch::message_of;
using Names = std::vector<std::string>;

struct BlockImpl : nn::Cloneable<BlockImpl> {
  explicit BlockImpl(std::int64_t width = 3) : width(width) { reset(); }
  void reset() override {
    inner = register_module("inner", nn::Linear(nn::LinearOptions(width, width).bias(false)));
    shift = register_parameter("shift", torch::zeros(width));
    seen = register_buffer("seen", torch::zeros({}));
  }
  torch::Tensor forward(const torch::Tensor& x) { return torch::tanh(inner->forward(x)) + shift; }

  std::int64_t width;
  int note = 0;
  nn::Linear inner{nullptr};
  torch::Tensor shift, seen;
};
TORCH_MODULE(Block);

struct NetImpl : nn::Cloneable<NetImpl> {
  NetImpl() { reset(); }
  void reset() override {
    first = register_module("first", Block(4));
    second = register_module("second", std::make_shared<BlockImpl>(4));
  }
  torch::Tensor forward(torch::Tensor x) { return second->forward(first(x)); }

  Block first{nullptr};
  std::shared_ptr<BlockImpl> second;
};
TORCH_MODULE(Net);

TEST(ModuleHolder, ConstructsCallsAndDereferences) {
  Block block(2);
  EXPECT_EQ(block->width, 2);
  EXPECT_EQ(Block()->width, 3);
  EXPECT_EQ(block(torch::ones({5, 2})).sizes(), torch::Shape({5, 2}));
  EXPECT_EQ(block.ptr().get(), block.get());
  Block empty = nullptr;
  EXPECT_TRUE(block && !empty && empty.is_empty());
  EXPECT_EQ(message_of([&] { empty->width = 1; }),
            "Module: expected a module, got an empty one; assign it before use");
  std::ostringstream out;
  out << block;
  EXPECT_NE(out.str().find("(inner): Linear(in_features=2"), std::string::npos) << out.str();
}

TEST(Layers, AreHolders) {
  nn::Linear linear{nullptr};
  EXPECT_TRUE(linear.is_empty());
  EXPECT_FALSE(linear);
  const std::string refusal = "Module: expected a module, got an empty one; assign it before use";
  EXPECT_EQ(message_of([&] { static_cast<void>(linear->weight); }), refusal);
  EXPECT_EQ(message_of([&] { linear.parameters(); }), refusal);
  EXPECT_EQ(message_of([&] { linear(torch::ones(3)); }), refusal);
  EXPECT_EQ(message_of([&] { nn::ReLU{nullptr}(torch::ones(3)); }), refusal);
  EXPECT_EQ(message_of([&] { nn::Sequential{nullptr}(torch::ones(3)); }), refusal);
  EXPECT_EQ(message_of([&] { nn::BatchNorm1d{nullptr}(torch::ones({1, 1})); }), refusal);
  linear = nn::Linear(3, 2);
  EXPECT_TRUE(linear);
  EXPECT_TRUE(linear->weight.is_same(linear.weight));
  EXPECT_TRUE((*linear).bias.is_same(linear.ptr()->bias));
  const torch::Tensor x = torch::randn({4, 3});
  EXPECT_TRUE(linear->forward(x).equal(linear(x)));
  linear->eval();
  EXPECT_FALSE(linear->is_training());
  std::shared_ptr<nn::LinearImpl> pointer = linear.ptr();
  EXPECT_TRUE(pointer->is_same(linear));
  EXPECT_EQ(nn::Softmax(0)(torch::ones(2)).sum().item<float>(), 1.0f) << "0 is not a null pointer";
}

TEST(Modules, KeepTheTypesOfTheirSubmodules) {
  Net net;
  EXPECT_EQ(net->named_modules("net").keys(),
            (Names{"net", "net.first", "net.first.inner", "net.second", "net.second.inner"}));
  EXPECT_EQ(net->named_modules("", false).keys(),
            (Names{"first", "first.inner", "second", "second.inner"}));
  const std::vector<std::shared_ptr<nn::Module>> modules = net->modules();
  ASSERT_EQ(modules.size(), 5);
  EXPECT_EQ(modules[0].get(), net.get());
  EXPECT_EQ(modules[1]->as<Block>(), net->first.get());
  EXPECT_EQ(modules[3].get(), net->second.get());
  EXPECT_EQ(modules[1]->as<nn::Linear>(), nullptr);
  EXPECT_EQ(net->children()[0].get(), net->first.get());
  int linears = 0;
  for (const auto& module : modules) {
    if (auto* linear = module->as<nn::Linear>()) {
      const torch::NoGradGuard no_grad;
      linear->weight.fill_(0.5);
      ++linears;
    }
  }
  EXPECT_EQ(linears, 2);
  EXPECT_EQ(net->first->inner->weight.sum().item<float>(), 8.0f);

  Names visited;
  net->apply([&](const std::string& name, nn::Module&) { visited.push_back(name); });
  EXPECT_EQ(visited, (Names{"", "first", "first.inner", "second", "second.inner"}));
  Names of_const, of_pointers;
  const auto& const_net = std::as_const(*net);
  const_net.apply([&](const std::string& name, const nn::Module&) { of_const.push_back(name); },
                  "net");
  EXPECT_EQ(of_const,
            (Names{"net", "net.first", "net.first.inner", "net.second", "net.second.inner"}));
  net->apply(
      [&](const std::string& name, const std::shared_ptr<nn::Module>& module) {
        if (module->as<nn::Linear>() != nullptr) of_pointers.push_back(name);
      },
      "net");
  EXPECT_EQ(of_pointers, (Names{"net.first.inner", "net.second.inner"}));
  int all = 0;
  const_net.apply([&](const nn::Module& module) { all += module.is_training(); });
  EXPECT_EQ(all, 5);
  int blocks = 0;
  net->apply([&](const std::shared_ptr<nn::Module>& module) {
    blocks += std::dynamic_pointer_cast<BlockImpl>(module) != nullptr;
  });
  EXPECT_EQ(blocks, 2);
}

TEST(Modules, HaveTheNameOfTheirClass) {
  struct Plain : nn::Module {};
  EXPECT_NE(Plain().name().find("Plain"), std::string::npos) << Plain().name();
  EXPECT_EQ(nn::Module("Own").name(), "Own");
  EXPECT_EQ(nn::SELU().name(), "SELU");
  EXPECT_EQ(nn::Module().name(), "Module");
}

class PadOptions {
 public:
  PadOptions(std::int64_t width) : width_(width) {}

  TORCH_ARG(std::int64_t, width);
  TORCH_ARG(std::string, mode) = "zeros";
};

TEST(Options, AreChained) {
  const PadOptions options = PadOptions(3).mode("ones");
  EXPECT_EQ(options.width(), 3);
  EXPECT_EQ(options.mode(), "ones");
  PadOptions changed = options;
  changed.width(4).width() += 1;
  EXPECT_EQ(changed.width(), 5);
  const auto linear = nn::Linear(nn::LinearOptions(2, 3).bias(false));
  EXPECT_FALSE(linear->bias.defined());
  const nn::LayerNorm norm(nn::LayerNormOptions({2, 3}).elementwise_affine(false));
  EXPECT_FALSE(norm->weight.defined());
  EXPECT_EQ(nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(1)).weight[1].sum().item(), 0);
  const nn::BatchNorm1d batch_norm(nn::BatchNorm1dOptions(3).track_running_stats(false));
  EXPECT_FALSE(batch_norm->running_mean.defined());
  nn::Dropout dropout(nn::DropoutOptions(0.5).inplace(true));
  const torch::Tensor x = torch::ones(100);
  EXPECT_TRUE(dropout(x).equal(x));
  EXPECT_GT((x == 0).sum().item(), 10);
}

TEST(Modules, AreCloned) {
  Net net;
  net->to(torch::kFloat64);
  net->second->note = 7;
  net->eval();
  const auto clone = std::dynamic_pointer_cast<NetImpl>(net->clone());
  ASSERT_NE(clone, nullptr);
  EXPECT_EQ(clone->second->note, 7);
  EXPECT_FALSE(clone->is_training());
  const torch::Tensor x = torch::randn({3, 4}, torch::kFloat64);
  EXPECT_TRUE(clone->forward(x).equal(net->forward(x)));
  for (const auto& item : net->named_parameters()) {
    const torch::Tensor copy = clone->named_parameters()[item.key()];
    EXPECT_TRUE(copy.equal(*item) && !copy.is_alias_of(*item) && copy.requires_grad());
  }
  EXPECT_TRUE(clone->first->inner->weight.is_same(clone->parameters()[1]))
      << "the members are those of the clone";
  const auto on_second = net->clone(torch::Device(torch::kCPU, 1));
  for (const auto& parameter : on_second->parameters()) EXPECT_EQ(parameter.device().index(), 1);
}

TEST(Modules, WithoutCloneSaySo) {
  struct Plain : nn::Module {};
  EXPECT_TRUE(message_of([] {
                Plain().clone();
              }).starts_with("clone: expected a class derived from nn::Cloneable, got "));
}

TEST(Layers, AreCloned) {
  const auto expect_copy = [](const auto& layer) {
    const auto clone = layer.clone();
    EXPECT_EQ(clone->name(), layer.name());
    ASSERT_EQ(clone->named_parameters().keys(), layer.named_parameters().keys());
    ASSERT_EQ(clone->named_buffers().keys(), layer.named_buffers().keys());
    for (const auto& item : layer.state_dict()) {
      EXPECT_TRUE(clone->state_dict()[item.key()].equal(*item));
      EXPECT_FALSE(clone->state_dict()[item.key()].is_alias_of(*item));
    }
  };
  expect_copy(nn::Linear(3, 2));
  expect_copy(nn::Embedding(3, 2));
  expect_copy(nn::LayerNorm(3));
  expect_copy(nn::BatchNorm1d(3));
  expect_copy(nn::Bilinear(2, 3, 2));
  expect_copy(nn::PReLU());
  expect_copy(nn::ReLU());
  expect_copy(nn::Sequential(nn::Linear(3, 2), nn::ReLU(), nn::Linear(2, 2)));
  const nn::Linear linear(3, 2);
  const auto clone = std::dynamic_pointer_cast<nn::Linear>(linear.clone());
  EXPECT_TRUE(clone->weight.is_same(clone->parameters()[0]));
}

struct Counter : nn::Module {
  explicit Counter(int start) : value(start) {}
  int forward() { return value; }
  int value;
};
struct DoublingModule : nn::Module {
  torch::Tensor forward(torch::Tensor x) { return x * 2; }
};

TEST(Sequential, TakesLibtorchsModules) {
  nn::Sequential model(std::make_shared<DoublingModule>(), DoublingModule(), Block(2),
                       nn::Linear(2, 3), nn::AnyModule(nn::Linear(3, 1)));
  EXPECT_EQ(model->size(), 5);
  EXPECT_EQ(model->forward(torch::ones({4, 2})).sizes(), torch::Shape({4, 1}));
  EXPECT_TRUE(model->forward<torch::Tensor>(torch::ones({4, 2})).defined());
  EXPECT_TRUE(nn::AnyModule(model).forward(torch::ones({4, 2})).defined());
  EXPECT_EQ(model->named_parameters().keys(),
            (Names{"2.shift", "2.inner.weight", "3.weight", "3.bias", "4.weight", "4.bias"}));
  EXPECT_EQ(model->at<Block>(2).width, 2);
  EXPECT_EQ(model[3]->as<nn::Linear>()->weight.size(0), 3);
  EXPECT_EQ(model->ptr(1).get(), model[1].get());
  EXPECT_THROW(model->clone(), std::invalid_argument) << "DoublingModule has no clone()";
  const nn::Sequential cloneable(Block(2), nn::Linear(2, 3), nn::AnyModule(nn::Linear(3, 1)),
                                 [](const torch::Tensor& x) { return x + 1; });
  const auto clone = std::dynamic_pointer_cast<nn::Sequential>(cloneable.clone());
  const torch::Tensor x = torch::ones({4, 2});
  EXPECT_TRUE(clone->forward(x).equal(cloneable(x)));
  EXPECT_FALSE(clone->parameters()[2].is_alias_of(cloneable.parameters()[2]));

  nn::Sequential named({{"hidden", nn::Linear(2, 3)}, {"block", Block(3)}});
  EXPECT_EQ(named->named_children().keys(), (Names{"hidden", "block"}));
  named->push_back("last", nn::Linear(3, 1));
  named->extend(*nn::Sequential(nn::ReLU(), DoublingModule()));
  EXPECT_EQ(named->named_children().keys(), (Names{"hidden", "block", "last", "3", "4"}));
  Names names;
  for (const auto& layer : *named) names.push_back(layer.ptr()->name());
  EXPECT_EQ(names[0], "Linear");
  EXPECT_GE(named(torch::ones({1, 2})).item<float>(), 0.0f);

  nn::Sequential counters(Counter(1), Counter(2));
  EXPECT_EQ(counters->at<Counter>(1).value, 2);
  EXPECT_NE(message_of([&] {
              counters(torch::ones(1));
            }).find("expected a layer that maps a Tensor to a Tensor"),
            std::string::npos);
}

}  // namespace
