// Runs the update of step k on the host while the device computes step k + 1, and prints the effect
// on the parameters, on the loss scale and on the time of a step.
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <halfgrad/data/data_loader.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/halfgrad.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/option_checks.h>
namespace hg = halfgrad;

namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Minimises p^2 / 2 from p = 8 with learning rate 1/4; returns the p that each iteration used.
std::vector<double> parameters_used(int iterations, bool is_async) {
  hg::Tensor p = hg::full({}, 8.0).requires_grad_();
  hg::optim::SGD sgd({p}, {.lr = 0.25});
  hg::optim::AsyncOptimizer optimizer(sgd);
  std::vector<double> used;
  for (int k = 0; k < iterations; ++k) {
    used.push_back(p.item());
    (p * p / 2).backward();
    optimizer.step(nullptr, is_async);
  }
  return used;
}

// Trains with gradients that overflow float16 above a scale of 2^13. Returns each iteration's
// scale, with a * if the step was skipped.
std::vector<std::string> scales(int iterations, bool is_async) {
  hg::Tensor p = hg::full({}, 0.0, {.dtype = hg::kFloat16}).requires_grad_();
  hg::optim::SGD sgd({p});
  hg::optim::AsyncOptimizer optimizer(sgd);
  hg::amp::AsyncGradScaler scaler(optimizer, {.growth_interval = 5});
  std::vector<std::string> scales(iterations);
  for (int k = 0; k < iterations; ++k) {
    scales[k] = fmt::format("2^{}", std::ilogb(scaler.get_scale()));
    scaler.scale(p.to(hg::kFloat32) * 4).backward();
    const auto step = [&, k](hg::optim::Optimizer& o) {
      if (scaler.step(o).skipped()) scales[k] += '*';
    };
    optimizer.step(step, is_async);
    scaler.update(is_async);
  }
  optimizer.synchronize();
  return scales;
}

struct Timing {
  double step = 0, in_step_call = 0;  // milliseconds, means
  double loss = 0;
};

struct Options {
  int steps = 60, hidden = 512;
};

// Trains on synthetic digits in mixed precision with AdamW.
Timing train(const Options& options, hg::Device device, bool is_async) {
  const auto digits = hg::data::synthetic_digits(2048, 1);
  const hg::Tensor pixels = hg::tensor(digits.pixels, {2048, 784}).to(hg::kFloat32) / 255;
  hg::data::DataLoader loader(hg::data::TensorDataset(pixels, hg::tensor(digits.labels)),
                              {.batch_size = 32, .shuffle = true});
  hg::manual_seed(0);
  auto model = hg::nn::Sequential(hg::nn::Linear(784, options.hidden), hg::nn::ReLU(),
                                  hg::nn::Linear(options.hidden, options.hidden), hg::nn::ReLU(),
                                  hg::nn::Linear(options.hidden, 10));
  model.to(device);
  hg::optim::AdamW adamw(model.parameters(), {.lr = 1e-3});
  hg::optim::AsyncOptimizer optimizer(adamw);
  hg::amp::AsyncGradScaler scaler(optimizer);

  Timing timing;
  int step = 0;
  const auto start = Clock::now();
  while (step < options.steps) {
    for (const auto& [x, y] : loader) {
      hg::Tensor loss;
      {
        const hg::amp::Autocast autocast(device.type());
        loss = hg::nn::functional::cross_entropy(model(x.to(device)), y.to(device));
      }
      scaler.scale(loss).backward();
      timing.loss = loss.item();
      const auto before = Clock::now();
      optimizer.step([&](hg::optim::Optimizer& o) { scaler.step(o); }, is_async);
      timing.in_step_call += milliseconds_since(before) / options.steps;
      scaler.update(is_async);
      if (++step == options.steps) break;
    }
  }
  optimizer.synchronize();
  timing.step = milliseconds_since(start) / options.steps;
  return timing;
}

void run(const Options& options) {
  constexpr int kIterations = 9;
  const auto sync_p = parameters_used(kIterations, false);
  const auto async_p = parameters_used(kIterations, true);
  const auto sync_scales = scales(kIterations, false);
  const auto async_scales = scales(kIterations, true);
  fmt::print("            parameter used       scale (* skipped)\n");
  fmt::print("iteration   sync     async       sync     async\n");
  for (int k = 0; k < kIterations; ++k) {
    fmt::print("{:>9}   {:<7.4f}  {:<7.4f}     {:<7}  {}\n", k, sync_p[k], async_p[k],
               sync_scales[k], async_scales[k]);
  }

  const hg::Device device = hg::cuda::is_available() ? hg::kCUDA : hg::kCPU;
  fmt::print("\n{} steps on {}   ms a step   in step()   loss\n", options.steps, device.str());
  for (const bool is_async : {false, true}) {
    const Timing timing = train(options, device, is_async);
    fmt::print("{:<{}}   {:>9.2f}   {:>9.2f}   {:.3f}\n", is_async ? "async" : "sync",
               fmt::formatted_size("{} steps on {}", options.steps, device.str()), timing.step,
               timing.in_step_call, programs::printed(timing.loss));
  }
}

}  // namespace

int main(int argc, char** argv) {
  programs::CommandLine app(
      "async_optimizer",
      "Compares two ways to run the optimizer on the host: beside the device's next step, and "
      "while the device waits.");
  Options options;
  app.add_option("--steps", options.steps, "Number of training steps that are timed")
      ->check(checks::positive)
      ->capture_default_str();
  app.add_option("--hidden", options.hidden, "Width of the two hidden layers")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  app.parse_or_exit(argc, argv);
  return programs::run("async_optimizer", [&] {
    run(options);
    return 0;
  });
}
