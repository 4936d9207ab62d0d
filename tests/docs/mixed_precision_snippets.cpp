#include "mixed_precision_snippets.h"

#include <optional>
#include <ostream>

#include <halfgrad/core/numbers/number_format.h>
#include <halfgrad/halfgrad.h>

namespace halfgrad::tests {

namespace hg = halfgrad;

void print_formats(std::ostream& out) {
  for (const double x : {70000.0, 2049.0, 0.1, 1e-8}) {
    out << x << " is " << hg::rounded_to(hg::kFp16, x) << " in fp16, "
        << hg::rounded_to(hg::kBf16, x) << " in bf16\n";
  }
}

std::vector<float> run_training_step() {
  const hg::Tensor h = hg::tensor({{0.5F, 1.5F}});
  const hg::Tensor w = hg::tensor({{0.001F, -0.0002F}}).requires_grad_();
  const hg::Tensor target = hg::full({1, 1}, 0.0003F);
  hg::optim::Adam optimizer({w}, {.lr = 1e-4});
  hg::amp::GradScaler scaler;
  hg::Tensor loss;
  {
    hg::amp::Autocast autocast(hg::kCPU);  // rule 2: float16 by default
    loss = hg::mse_loss(hg::linear(h, w), target, hg::kSum) / (128 * 784);
  }
  scaler.scale(loss).backward();  // rule 3
  scaler.step(optimizer);         // rule 4: divides by the scale, then Adam, unless inf or NaN
  scaler.update();                // rule 4: the scale for the next step
  return {w[0][0].item<float>(), w[0][1].item<float>()};
}

void print_autocast(std::ostream& out) {
  const hg::Tensor h = hg::ones({1, 2});
  const hg::Tensor w = hg::ones({1, 2});
  const hg::Tensor x = hg::full({1}, 12.0, hg::kFloat16);
  const hg::amp::Autocast autocast(hg::kCPU);
  out << "exp gives " << hg::name(hg::exp(x).dtype()) << ", linear gives "
      << hg::name(hg::linear(h, w).dtype()) << '\n';
}

void print_masters(std::ostream& out) {
  const auto train = [](bool with_masters) {
    hg::Tensor weight = hg::ones({1}, hg::kFloat16).requires_grad_();
    hg::optim::SGD optimizer({weight}, {.lr = 1e-4});
    std::optional<hg::amp::MasterWeights> masters;
    if (with_masters) masters.emplace(optimizer);
    for (int step = 0; step < 10; ++step) {
      optimizer.zero_grad();
      weight.sum().backward();  // the gradient is 1
      optimizer.step();
    }
    return weight.item();
  };
  out << "without masters " << train(false) << ", with masters " << train(true) << '\n';
}

}  // namespace halfgrad::tests
