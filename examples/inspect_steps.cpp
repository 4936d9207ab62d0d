// A look inside mixed precision: what autocast decides for each op, which gradients float16 would
// lose without a loss scale, which op overflows when the scale is too high, why the scale changed,
// and how far the training is from float32.
#include <iostream>
#include <memory>

#include <halfgrad/amp/inspector/op_log.h>
#include <halfgrad/amp/inspector/overflow.h>
#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/amp/inspector/twin_run.h>
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

hg::nn::Sequential make_model() {
  return hg::nn::Sequential(hg::nn::Linear(784, 64), hg::nn::ReLU(), hg::nn::Linear(64, 10));
}

void train(int steps, double init_scale) {
  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  hg::data::DataLoader loader(make_dataset(), {.batch_size = 128, .shuffle = true});
  hg::manual_seed(0);
  auto model = make_model();
  model.to(device);
  hg::optim::Adam optimizer(model.parameters(), {.lr = 1e-3});
  hg::amp::GradScaler scaler({.init_scale = init_scale, .history = steps});

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
    const double scale = scaler.get_scale();
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
  std::cout << "Gradients of " << step << " steps as float16 sees them:\n" << ledger << '\n';
  std::cout << "The loss scale:\n" << hg::amp::ScaleTimeline(scaler.reports(), named) << '\n';
}

// One of the two trainings that compare() runs.
struct Training {
  hg::nn::Sequential model = make_model();
  hg::optim::Adam optimizer{model.parameters(), {.lr = 1e-3}};
  hg::amp::GradScaler scaler;
  hg::data::DataLoader digits{make_dataset(), {.batch_size = 128, .shuffle = true}};
  bool low_precision;

  explicit Training(bool low) : scaler({.init_scale = 4096, .enabled = low}), low_precision(low) {}

  hg::Tensor step() {
    const auto [x, y] = *digits.begin();  // the first batch of a new shuffle
    optimizer.zero_grad();
    hg::Tensor loss;
    {
      const hg::amp::Autocast autocast(hg::kCPU, {.enabled = low_precision});
      loss = hg::nn::functional::cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);
    scaler.update();
    return loss;
  }
};

void compare(int steps) {
  const hg::amp::TwinRun twin(
      [](bool low_precision) {
        const auto run = std::make_shared<Training>(low_precision);
        return hg::amp::TwinSide{hg::amp::NamedModel(run->model),
                                 [run](std::int64_t) { return run->step(); }};
      },
      {.steps = steps, .bound = 0.01});
  std::cout << "The same training in float32 beside float16:\n" << twin;
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
    compare(steps);
    return 0;
  });
}
