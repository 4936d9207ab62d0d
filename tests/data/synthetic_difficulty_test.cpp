#include <halfgrad/data/synthetic.h>

#include <gtest/gtest.h>
#include <halfgrad/data/data_loader.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::data {
namespace {

Batch digits(std::int64_t count, std::uint64_t seed) {
  const DigitImages images = synthetic_digits(count, seed);
  const Tensor pixels = tensor(images.pixels, {count, 784}).to(kFloat32);
  return {(pixels - 42) / 81, tensor(images.labels)};  // about mean 0, standard deviation 1
}

double test_accuracy(const nn::Sequential& model, const Batch& train, const Batch& test) {
  optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  DataLoader loader(TensorDataset(train.first, train.second), {.batch_size = 128, .shuffle = true});
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (auto [x, y] : loader) {
      optimizer.zero_grad();
      cross_entropy(model(x), y).backward();
      optimizer.step();
    }
  }
  const NoGradGuard no_grad;
  return (model(test.first).argmax(1) == test.second).to(kFloat32).mean().item();
}

TEST(SyntheticDigits, AreHardForALinearModelAndNotForAnMlp) {
  if (!kThorough) GTEST_SKIP() << "takes minutes in a debug build";
  manual_seed(0);
  const Batch train = digits(8000, 1), test = digits(2000, 2);
  const nn::Sequential linear(nn::Linear(784, 10));
  const nn::Sequential mlp(nn::Linear(784, 256), nn::ReLU(), nn::Linear(256, 128), nn::ReLU(),
                           nn::Linear(128, 10));
  EXPECT_LT(test_accuracy(linear, train, test), 0.90);
  EXPECT_GT(test_accuracy(mlp, train, test), 0.97);
}

}  // namespace
}  // namespace halfgrad::data
