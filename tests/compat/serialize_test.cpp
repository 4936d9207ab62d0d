#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

// save() and load() as programs for libtorch call them.
namespace {

namespace torch = halfgrad;
using torch::message_of;

TEST(Serialize, KeepsTensors) {
  const halfgrad::tests::Folder folder;
  const torch::Tensor x = torch::randn({2, 3}, torch::kHalf);
  torch::save(x, (folder / "x.pt").string());
  torch::Tensor y;
  torch::load(y, (folder / "x.pt").string());
  EXPECT_EQ(y.dtype(), torch::kHalf);
  EXPECT_TRUE(y.equal(x));
  std::stringstream stream;
  torch::save(std::vector<torch::Tensor>{x, x + 1}, stream);
  std::vector<torch::Tensor> list;
  torch::load(list, stream);
  ASSERT_EQ(list.size(), 2);
  EXPECT_TRUE(list[1].equal(x + 1));
}

TEST(Serialize, TakesFunctionsAndMemory) {
  const torch::Tensor x = torch::randn({2, 3});
  std::string bytes;
  torch::save(x, [&](const void* data, std::size_t count) {
    bytes.append(static_cast<const char*>(data), count);
    return count;
  });
  torch::Tensor y, z;
  torch::load(y, bytes.data(), bytes.size());
  EXPECT_TRUE(y.equal(x));
  torch::load(
      z,
      [&](std::uint64_t position, void* buffer, std::size_t count) {
        return bytes.copy(static_cast<char*>(buffer), count, position);
      },
      [&] { return bytes.size(); });
  EXPECT_TRUE(z.equal(x));
  EXPECT_THROW(torch::save(x, [](const void*, std::size_t) { return std::size_t{1}; }),
               std::runtime_error);
}

TEST(Serialize, KeepsModules) {
  torch::nn::Sequential model(torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(3));
  std::stringstream stream;
  torch::save(model, stream);
  torch::nn::Sequential other(torch::nn::Linear(2, 3), torch::nn::BatchNorm1d(3));
  const torch::Tensor weight = other->parameters()[0];
  torch::load(other, stream);
  EXPECT_TRUE(other->parameters()[0].is_same(weight)) << "handles stay";
  for (const auto& item : model->state_dict()) {
    EXPECT_TRUE(other->state_dict()[item.key()].equal(*item)) << item.key();
  }
  torch::nn::Sequential larger(torch::nn::Linear(2, 4));
  stream.clear();
  stream.seekg(0);
  EXPECT_EQ(message_of([&] { torch::load(larger, stream); }),
            "InputArchive: expected shape [4, 2] for \"0.weight\", got [3, 2]");
}

TEST(Serialize, KeepsOptimizers) {
  const auto trained = [](torch::Tensor& w) {
    auto optimizer = std::make_unique<torch::optim::Adam>(
        std::vector{w}, torch::optim::AdamOptions(0.1).betas(std::make_tuple(0.8, 0.9)));
    (w * w).sum().backward();
    optimizer->step();
    return optimizer;
  };
  torch::Tensor a = torch::ones(3, torch::requires_grad()), b = a.detach().clone().requires_grad_();
  const auto first = trained(a);
  std::stringstream stream;
  torch::save(*first, stream);
  torch::optim::Adam second({b}, torch::optim::AdamOptions(0.5));
  torch::load(second, stream);
  EXPECT_EQ(second.param_groups()[0].lr, 0.1);
  EXPECT_EQ(second.param_groups()[0].betas->first, 0.8);
  EXPECT_EQ(second.steps(), 1);
  EXPECT_TRUE(torch::Tensor(second.state(b).at("exp_avg"))
                  .equal(torch::Tensor(first->state(a).at("exp_avg"))));
}

TEST(Archives, AreNested) {
  torch::serialize::OutputArchive inner, outer;
  inner.write("weight", torch::ones(2));
  outer.write("fc", inner);
  outer.write("scale", torch::tensor(3.0));
  EXPECT_THROW(outer.write("scale", torch::ones(1)), std::invalid_argument);
  std::stringstream stream;
  outer.save_to(stream);
  torch::serialize::InputArchive input, group;
  input.load_from(stream);
  EXPECT_EQ(input.keys(), (std::vector<std::string>{"fc", "scale"}));
  input.read("fc", group);
  torch::Tensor weight, missing;
  group.read("weight", weight);
  EXPECT_TRUE(weight.equal(torch::ones(2)));
  EXPECT_FALSE(group.try_read("bias", missing));
  EXPECT_EQ(message_of([&] { group.read("bias", missing); }),
            "InputArchive: expected a tensor \"bias\", got none");
  EXPECT_EQ(message_of([&] { group.read("x", group); }),
            "InputArchive: expected a group \"x\", got none");
}

}  // namespace
