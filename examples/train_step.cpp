// README's example: a training loop in mixed precision on synthetic digits.
#include <cstdio>
#include <limits>

#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/command_line.h>
namespace hg = halfgrad;

hg::data::TensorDataset make_dataset() {
  const auto digits = hg::data::synthetic_digits(8000, 1);
  const hg::Tensor pixels = hg::tensor(digits.pixels, {8000, 784}).to(hg::kFloat32);
  return {pixels / 255, hg::tensor(digits.labels)};
}

void train(int steps) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  hg::data::DataLoader loader(make_dataset(), {.batch_size = 128, .shuffle = true});

  hg::manual_seed(0);
  auto model =
      hg::nn::Sequential(hg::nn::Linear(784, 512), hg::nn::ReLU(), hg::nn::Linear(512, 10));
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  hg::amp::GradScaler scaler;
  int step = 0;
  for (auto [x, y] : loader) {
    x = x.to(device);
    y = y.to(device);
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      hg::amp::Autocast autocast(device.type());  // float16 by default
      loss = hg::nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.unscale_(optimizer);
    hg::nn::utils::clip_grad_norm_(model.parameters(), 1.0);
    scaler.step(optimizer);
    scaler.update();
    if (step % 10 == 0) std::printf("step %2d: loss %.3f\n", step, loss.item());
    if (++step == steps) break;
  }
}

int main(int argc, char** argv) {
  programs::CommandLine app("train_step", "Trains an MLP for one epoch in mixed precision.");
  int steps = std::numeric_limits<int>::max();
  app.add_option("--steps", steps, "Stop after this many steps")->check(CLI::Range(1, steps));
  app.parse_or_exit(argc, argv);
  return programs::run("train_step", [&] {
    train(steps);
    return 0;
  });
}
