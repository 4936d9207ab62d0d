// The README's example on random data: compiles against the installed package, and trains.

#include <cstdio>

#include <halfgrad/halfgrad.h>

namespace hg = halfgrad;

int main() {
  hg::manual_seed(0);
  const hg::Device device = hg::kCPU;
  auto model = hg::nn::Sequential(hg::nn::Linear(784, 64), hg::nn::ReLU(), hg::nn::Linear(64, 10));
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  hg::amp::GradScaler scaler;
  const hg::Tensor x = hg::randn({32, 784});
  const hg::Tensor y = hg::randint(0, 10, {32});

  double first = 0;
  double last = 0;
  for (int step = 0; step < 30; ++step) {
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
    last = loss.item<double>();
    if (step == 0) first = last;
  }
  std::printf("loss %.4f -> %.4f\n", first, last);
  return last < first / 2 ? 0 : 1;
}
