#include <numeric>

#include <fmt/core.h>
#include <halfgrad/data/synthetic.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/terminal.h>

#include "table.h"
#include "tasks.h"

namespace hg = halfgrad;

namespace {

constexpr std::int64_t kPoints = hg::data::MembraneLoads::kSide * hg::data::MembraneLoads::kSide;

hg::data::Batch membranes(std::int64_t count, std::uint64_t seed) {
  const auto samples = hg::data::membrane_loads(count, seed);
  return {hg::tensor(samples.loads, {count, hg::data::MembraneLoads::kInputs}),
          hg::tensor(samples.deflections, {count, kPoints})};
}

hg::nn::Sequential make_model() {
  const hg::nn::Linear last(128, kPoints);
  hg::nn::init::zeros_(last.weight);
  hg::nn::init::zeros_(last.bias);
  return hg::nn::Sequential(hg::nn::Linear(hg::data::MembraneLoads::kInputs, 128), hg::nn::ReLU(),
                            hg::nn::Linear(128, 128), hg::nn::ReLU(), last);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

std::vector<UnderflowReport> run_underflow(const Options& options, hg::RunReport* page) {
  const hg::data::Batch train_set = membranes(4096, 1);
  const hg::Tensor mean_field = train_set.second.mean({0});
  std::vector<double> flushed;  // fraction of zeros in dL/dy, for each step
  const auto loss = [&](const hg::Tensor& output, const hg::Tensor& y) {
    if (hg::GradMode::is_enabled())
      output.register_hook([&flushed](const hg::Tensor& gradient) {
        flushed.push_back((gradient == 0).to(hg::kFloat32).mean().item());
        return hg::Tensor();
      });
    return hg::mse_loss(output, y);
  };
  const auto r_squared = [&](const hg::Tensor& output, const hg::Tensor& y) {
    const auto squares = [](const hg::Tensor& error) { return hg::square(error).sum(); };
    return 1 - squares(output - y) / squares(y - mean_field.to(y.device()));
  };
  const Task task{
      .train = hg::data::TensorDataset(train_set.first, train_set.second),
      .test = membranes(1024, 2),
      .make_model = make_model,
      .loss = loss,
      .score = r_squared,
      .score_text =
          [](double score) { return fmt::format("R² {:>7.3f}", programs::printed(score)); },
      .title = "Membrane: gradients below float16's range",
      .score_name = "R²",
      .page = page,
      .lr = 1e-4,
      .init_scale = options.init_scale,
      .epochs = 20,
      .steps = options.steps,
      .device = options.device,
      .name = "membrane",
      .score_tag = "r_squared",
      .traces = options.traces.get()};
  programs::print_wrapped(
      fmt::format("Sag of a loaded membrane, in metres: 4096 loads to train on, 1024 to test.\n"
                  "4-128-128-784, mean squared error, batch {}, adam {:g}, {} epochs\n\n",
                  task.batch, task.lr, task.epochs));

  const std::size_t epoch_steps = 4096 / static_cast<std::size_t>(task.batch);
  std::vector<UnderflowReport> reports;
  for (const Precision& precision : options.precisions) {
    if (programs::is_interrupted()) break;
    if (precision.weights != hg::kFloat32 && options.precisions.size() > 1) continue;
    flushed.clear();
    UnderflowReport& report = reports.emplace_back();
    report.training = train(task, precision, options.seed);
    // A recommended scale was found with backward passes before the first step.
    const auto steps = std::span(flushed).last(static_cast<std::size_t>(report.training.steps));
    const std::size_t count = std::min(epoch_steps, steps.size());
    report.first_flushed = mean(steps.first(count));
    report.last_flushed = mean(steps.last(count));
  }
  if (!reports.empty()) print_underflow_table(reports);
  return reports;
}
