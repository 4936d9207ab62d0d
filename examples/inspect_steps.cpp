// A look inside mixed precision: what autocast decides for each op, which gradients float16 would
// lose without a loss scale, and which op overflows when the scale is too high.
#include <iostream>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/amp/inspector/underflow_ledger.h>
#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/command_line.h>
namespace hg = halfgrad;

namespace {

hg::data::TensorDataset make_dataset() {
  const auto digits = hg::data::synthetic_digits(2000, 1);
  const hg::Tensor pixels = hg::tensor(digits.pixels, {2000, 784}).to(hg::kFloat32);
  return {pixels / 255, hg::tensor(digits.labels)};
}

void train(int steps, double init_scale) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  hg::data::DataLoader loader(make_dataset(), {.batch_size = 128, .shuffle = true});
  hg::manual_seed(0);
  auto model = hg::nn::Sequential(hg::nn::Linear(784, 64), hg::nn::ReLU(), hg::nn::Linear(64, 10));
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  hg::amp::GradScaler scaler({.init_scale = init_scale});

  const hg::amp::NamedModel named(model);
  hg::amp::OpLog ops(named);
  hg::amp::UnderflowLedger ledger(named);
  int step = 0;
  for (auto [x, y] : loader) {
    x = x.to(device);
    y = y.to(device);
    const auto compute_loss = [&, &pixels = x, &labels = y] {
      const hg::amp::Autocast autocast(device.type());
      return hg::nn::functional::cross_entropy(model(pixels), labels);
    };
    if (step == 0) {
      const hg::OpObserverGuard guard(ops);
      static_cast<void>(compute_loss());
    }
    const double scale = step == 0 ? init_scale : scaler.get_scale();
    const hg::RandomKey random = hg::default_generator().get_state();
    optimizer.zero_grad();
    {
      const hg::OpObserverGuard guard = ledger.observe(scale);
      scaler.scale(compute_loss()).backward();
    }
    if (scaler.step(optimizer).skipped()) {
      const auto overflow =
          hg::amp::find_overflow(named, compute_loss, {.scale = scale, .random = random});
      std::cout << "step " << step << ": " << explain(overflow) << "\n\n";
    }
    scaler.update();
    if (++step == steps) break;
  }
  std::cout << "Ops of the first forward pass under autocast:\n" << ops << '\n';
  std::cout << "Gradients of " << step << " steps as float16 sees them:\n" << ledger;
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app("inspect_steps",
                            "Trains an MLP for a few steps and shows what mixed precision did.");
  int steps = 8;
  double init_scale = 16777216;
  app.add_option("--steps", steps, "Number of steps")->check(CLI::Range(1, 1000));
  app.add_option("--init-scale", init_scale, "First loss scale")->check(CLI::Range(1.0, 1e30));
  app.parse_or_exit(argc, argv);
  return programs::run("inspect_steps", [&] {
    train(steps, init_scale);
    return 0;
  });
}
