#include <cmath>
#include <cstdio>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/compat/torch.h>
#include <halfgrad/data/idx.h>
#include <halfgrad/tests/folder.h>

// A training of digits as a program for libtorch has it, where `torch` names this library.
namespace {

namespace torch = halfgrad;

struct DigitNet : torch::nn::Module {
  DigitNet() {
    hidden = register_module("hidden", torch::nn::Linear(784, 32));
    middle = register_module("middle", torch::nn::Linear(32, 16));
    output = register_module("output", torch::nn::Linear(16, 10));
  }

  torch::Tensor forward(torch::Tensor x) {
    x = torch::relu(hidden->forward(x.reshape({x.size(0), 784})));
    x = torch::dropout(x, /*p=*/0.1, /*train=*/is_training());
    x = torch::relu(middle(x));
    return torch::log_softmax(output->forward(x), /*dim=*/1);
  }

  torch::nn::Linear hidden{nullptr}, middle{nullptr}, output{nullptr};
};

/// Writes `count` images of which digit d has a bright row d, in MNIST's format.
void write_digits(const std::string& folder, const std::string& prefix, std::int64_t count) {
  torch::data::IdxFile images{torch::kUInt8, {count, 28, 28}, {}};
  torch::data::IdxFile labels{torch::kUInt8, {count}, {}};
  images.data.resize(static_cast<std::size_t>(count * 28 * 28));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t digit = i % 10;
    labels.data.push_back(static_cast<std::byte>(digit));
    for (std::int64_t column = 0; column < 28; ++column) {
      images.data[static_cast<std::size_t>((i * 28 + digit) * 28 + column)] = std::byte{255};
    }
  }
  torch::data::write_idx(folder + "/" + prefix + "-images-idx3-ubyte", images);
  torch::data::write_idx(folder + "/" + prefix + "-labels-idx1-ubyte", labels);
}

template <class Loader>
void train(DigitNet& model, torch::Device device, Loader& loader,
           torch::optim::Optimizer& optimizer) {
  model.train();
  for (auto& batch : loader) {
    const auto data = batch.data.to(device);
    const auto targets = batch.target.to(device);
    optimizer.zero_grad();
    auto loss = torch::nll_loss(model.forward(data), targets);
    ASSERT_FALSE(std::isnan(loss.template item<float>()));
    loss.backward();
    optimizer.step();
  }
}

template <class Loader>
double accuracy(DigitNet& model, torch::Device device, Loader& loader) {
  const torch::NoGradGuard no_grad;
  model.eval();
  std::int64_t correct = 0, total = 0;
  for (const auto& batch : loader) {
    const auto prediction = model.forward(batch.data.to(device)).argmax(1);
    correct += prediction.eq(batch.target.to(device)).sum().template item<std::int64_t>();
    total += batch.target.size(0);
  }
  return static_cast<double>(correct) / static_cast<double>(total);
}

TEST(MnistProgram, Learns) {
  torch::manual_seed(1);
  const halfgrad::tests::Folder folder;
  write_digits((folder / "").string(), "train", 200);
  write_digits((folder / "").string(), "t10k", 50);
  const std::string root = (folder / "").string();
  const torch::Device device(torch::kCPU);

  DigitNet model;
  model.to(device);
  auto train_set = torch::data::datasets::MNIST(root)
                       .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                       .map(torch::data::transforms::Stack<>());
  EXPECT_EQ(train_set.size().value(), 200);
  auto train_loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      std::move(train_set), 20);
  auto test_set = torch::data::datasets::MNIST(root, torch::data::datasets::MNIST::Mode::kTest)
                      .map(torch::data::transforms::Normalize<>(0.1307, 0.3081))
                      .map(torch::data::transforms::Stack<>());
  auto test_loader = torch::data::make_data_loader(std::move(test_set), 25);
  torch::optim::SGD optimizer(model.parameters(), torch::optim::SGDOptions(0.05).momentum(0.5));

  const double before = accuracy(model, device, *test_loader);
  for (int epoch = 0; epoch < 3; ++epoch) train(model, device, *train_loader, optimizer);
  EXPECT_LT(before, 0.5);
  EXPECT_EQ(accuracy(model, device, *test_loader), 1.0);
}

TEST(MnistProgram, KeepsItsModelByPointer) {
  torch::manual_seed(1);
  const halfgrad::tests::Folder folder;
  write_digits((folder / "").string(), "train", 100);
  auto net = std::make_shared<DigitNet>();
  auto loader = torch::data::make_data_loader(
      torch::data::datasets::MNIST((folder / "").string()).map(torch::data::transforms::Stack<>()),
      /*batch_size=*/10);
  torch::optim::SGD optimizer(net->parameters(), /*lr=*/0.01);
  std::size_t batches = 0;
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    torch::Tensor loss = torch::nll_loss(net->forward(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    ++batches;
  }
  EXPECT_EQ(batches, 10);
  EXPECT_EQ(net->named_parameters().keys(),
            (std::vector<std::string>{"hidden.weight", "hidden.bias", "middle.weight",
                                      "middle.bias", "output.weight", "output.bias"}));

  const std::string file = (folder / "net.pt").string();
  torch::save(net, file);
  auto restored = std::make_shared<DigitNet>();
  torch::load(restored, file);
  for (const auto& item : net->named_parameters()) {
    EXPECT_TRUE(restored->named_parameters()[item.key()].equal(item.value())) << item.key();
  }
}

}  // namespace
