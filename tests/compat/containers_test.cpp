#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/tests/message_of.h>

// Containers of modules and parameters as programs for libtorch write them.
namespace {

namespace torch = halfgrad;
namespace nn = torch::nn;
using torch::message_of;
using Names = std::vector<std::string>;

struct BoxImpl : nn::Module {
  explicit BoxImpl(std::int64_t width) : width(width) {}
  torch::Tensor forward(const torch::Tensor& x) { return x * static_cast<double>(width); }
  std::int64_t width;
};
TORCH_MODULE(Box);

struct Tally : nn::Module {
  explicit Tally(int start) : value(start) {}
  int forward() { return value; }
  int value;
};

TEST(AnyModule, CallsModulesOfAnyForward) {
  struct Adds : nn::Module {
    std::string forward(int a, const std::string& b) { return std::to_string(a) + b; }
  };
  nn::AnyModule any(std::make_shared<Adds>());
  EXPECT_EQ(any.forward<std::string>(3, std::string("x")), "3x");
  EXPECT_NE(message_of([&] { any.forward<std::string>(3); }).find("expected 2 arguments"),
            std::string::npos);
  EXPECT_NE(message_of([&] {
              any.forward<std::string>(3.0, std::string("x"));
            }).find("expected argument 0 of type int, got double"),
            std::string::npos);
  EXPECT_EQ(message_of([&] { any.forward<int>(3, std::string("x")); }).substr(0, 42),
            "AnyValue: expected a value of type int, go");
  any = nn::AnyModule(Tally(5));
  EXPECT_EQ(any.forward<int>(), 5);
  EXPECT_EQ(any.get<Tally>().value, 5);
  EXPECT_EQ(any.ptr()->as<Tally>()->value, 5);
  EXPECT_THROW(any.get<Adds>(), std::invalid_argument);
  nn::AnyModule empty;
  EXPECT_TRUE(empty.is_empty());
  EXPECT_THROW(empty.ptr(), std::invalid_argument);
  EXPECT_EQ(nn::AnyModule(nn::MSELoss()).forward(torch::ones(2), torch::zeros(2)).item<int>(), 1);
  EXPECT_EQ(nn::AnyModule(Box(2)).get<Box>()->width, 2);
}

TEST(ModuleList, HoldsModulesByPosition) {
  nn::ModuleList list(nn::Linear(2, 3), Tally(4));
  list->push_back(std::make_shared<Tally>(5));
  list->insert(1, Box(2));
  EXPECT_EQ(list->size(), 4);
  EXPECT_EQ(list->at<Tally>(2).value, 4);
  EXPECT_EQ(list[1]->as<Box>()->width, 2);
  EXPECT_EQ(list->named_children().keys(), (Names{"0", "1", "2", "3"}));
  EXPECT_EQ(list->named_children()["3"]->as<Tally>()->value, 5);
  EXPECT_THROW(list->ptr(4), std::out_of_range);
  EXPECT_THROW(list->at<nn::Linear>(2), std::invalid_argument);
  nn::ModuleList other;
  other->extend(*list);
  EXPECT_EQ(other->size(), 4);
}

TEST(ModuleList, StaysAsItIsIfAModuleIsRefused) {
  nn::ModuleList list(nn::Linear(1, 1)), around(list);
  for (const std::size_t position : {0, 1}) {
    EXPECT_THROW(list->insert(position, around), std::invalid_argument);
    EXPECT_EQ(list->size(), 1);
    EXPECT_EQ(list->named_children().keys(), Names{"0"});
  }
}

TEST(Containers, MovesCopyTheHandle) {
  nn::ModuleList list(nn::Linear(1, 1));
  nn::ModuleDict modules;
  modules->update({{"a", nn::Linear(1, 1).ptr()}});
  nn::ParameterList tensors(torch::ones(1));
  nn::ParameterDict named;
  named->insert("a", torch::ones(1));
  const auto size_after_move = [](auto& handle) {
    const auto moved = std::move(handle);
    EXPECT_TRUE(moved.is_same(handle));
    return moved.size() + handle.size();
  };
  EXPECT_EQ(size_after_move(list), 2);
  EXPECT_EQ(size_after_move(modules), 2);
  EXPECT_EQ(size_after_move(tensors), 2);
  EXPECT_EQ(size_after_move(named), 2);
}

TEST(ModuleDict, HoldsModulesByName) {
  nn::ModuleDict dict;
  dict->update({{"a", nn::Linear(2, 3).ptr()}, {"b", std::make_shared<Tally>(1)}});
  EXPECT_EQ(dict->keys(), (Names{"a", "b"}));
  dict->update({{"a", std::make_shared<Tally>(9)}});
  EXPECT_EQ(dict->at<Tally>("a").value, 9);
  EXPECT_EQ(dict->pop("b")->as<Tally>()->value, 1);
  EXPECT_TRUE(dict->contains("a") && !dict->contains("b"));
  EXPECT_THROW(dict["b"], std::out_of_range);
  dict->clear();
  EXPECT_TRUE(dict->empty() && dict->children().empty());
}

TEST(ParameterContainers, RegisterTheirTensors) {
  const torch::Tensor a = torch::ones(2, torch::requires_grad()), b = torch::zeros(3);
  nn::ParameterList list(a, b);
  list->append(torch::ones(1));
  EXPECT_EQ(list->named_parameters().keys(), (Names{"0", "1", "2"}));
  EXPECT_TRUE(list[0].is_same(a) && list->at(0).requires_grad() && !list[1].requires_grad());
  EXPECT_THROW(list->at(3), std::out_of_range);
  nn::ParameterDict dict;
  dict->insert("a", a);
  EXPECT_TRUE(dict["a"].is_same(a) && dict->parameters()[0].is_same(a));
  EXPECT_THROW(dict->insert("a", b), std::invalid_argument);
  EXPECT_TRUE(dict->pop("a").is_same(a));
  EXPECT_TRUE(dict->empty());
}

TEST(OrderedDict, HasLibtorchsItems) {
  torch::OrderedDict<std::string, int> dict = {{"a", 1}, {"b", 2}};
  EXPECT_EQ(dict[0].key(), "a");
  EXPECT_EQ(dict[1].value() + *dict.front() + dict["b"], 5);
  EXPECT_EQ(dict.insert("c", 3), 3);
  dict["a"] = 7;
  EXPECT_EQ(*dict.find("a"), 7);
  EXPECT_EQ(dict.find("x"), nullptr);
  dict.erase("b");
  EXPECT_EQ(dict.keys(), (Names{"a", "c"}));
  EXPECT_EQ(dict.values(), (std::vector<int>{7, 3}));
  EXPECT_EQ(dict.pairs()[1].second, 3);
  EXPECT_THROW(dict["b"], std::out_of_range);
  EXPECT_THROW(dict.insert("a", 1), std::invalid_argument);
  torch::OrderedDict<std::string, int> other("Penguin");
  other.insert("d", 4);
  dict.update(other);
  EXPECT_EQ(dict.back().pair(), (std::pair<std::string, int>("d", 4)));
  EXPECT_EQ(message_of<std::out_of_range>([&] { other["e"]; }),
            "OrderedDict: expected a known Penguin, got \"e\"");
  for (auto& item : dict) item.value() += 1;
  EXPECT_EQ(dict["d"], 5);
  dict.clear();
  EXPECT_TRUE(dict.is_empty());
}

}  // namespace
