#include "training.h"

#include <algorithm>

#include <fmt/core.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/running_median.h>

#include "epochs.h"
#include "progress.h"
#include "recommended_scale.h"

namespace hg = halfgrad;

namespace {

double fraction_of_differences(const std::vector<hg::Tensor>& a, const std::vector<hg::Tensor>& b) {
  double differences = 0, count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences += (a[i] != b[i]).sum().item();
    count += static_cast<double>(a[i].numel());
  }
  return differences / count;
}

/// Restores the trainer from a checkpoint, which must have fewer than `all_steps` steps. Returns
/// its number of steps; 0 if there is no checkpoint.
std::int64_t resume(const Task& task, const std::string& settings, std::int64_t all_steps,
                    Trainer& trainer) {
  if (task.resume.empty()) return 0;
  const hg::io::Checkpoint checkpoint = hg::io::load_checkpoint(task.resume);
  require_settings(checkpoint, task, settings);
  trainer.read(checkpoint);
  const std::int64_t steps = checkpoint.integer("steps");
  if (steps < all_steps) return steps;
  throw std::invalid_argument(fmt::format(
      "--resume: expected a checkpoint of fewer than {} steps, got one of {}", all_steps, steps));
}

/// The name of a training in traces and in TensorBoard.
std::string run_name(const Task& task, const Precision& precision, std::uint64_t seed) {
  const std::string name = fmt::format("{}-{}", task.name, precision.name);
  return seed == 0 ? name : fmt::format("{}-seed-{}", name, seed);
}

void save(const std::filesystem::path& file, const Task& task, const std::string& settings,
          const Trainer& trainer, std::int64_t steps) {
  hg::io::Checkpoint checkpoint;
  write_settings(checkpoint, task, settings);
  trainer.write(checkpoint);
  checkpoint.write("steps", steps);
  hg::io::save_checkpoint(file, checkpoint);
}

/// A replayed step is not observed: its graph would copy gradients to the host.
hg::RunOptions reported_run(const Task& task, const Precision& precision, std::uint64_t seed,
                            const Trainer& trainer, std::int64_t steps) {
  constexpr std::int64_t kObserved = 24;  // steps
  return {.name = seed == 0 ? std::string(precision.name)
                            : fmt::format("{}, seed {}", precision.name, seed),
          .task = task.title,
          .score = task.score_name,
          .model = hg::amp::NamedModel(trainer.model()),
          .optimizers = {&trainer.optimizer()},
          .scaler = &trainer.scaler(),
          .every = task.graph ? 0 : std::max<std::int64_t>(2, steps / kObserved)};
}

double first_scale(const Task& task, const Precision& precision, std::uint64_t seed) {
  if (!task.init_scale || !precision.scales_loss) return hg::amp::GradScalerOptions().init_scale;
  return task.init_scale->is_recommended ? recommended_scale(task, precision, seed)
                                         : task.init_scale->value;
}

}  // namespace

std::string settings(const Task& task, const Precision& precision, std::uint64_t seed) {
  return fmt::format("--precision {} --batch {} --lr {} --optimizer {} --seed {}", precision.name,
                     task.batch, task.lr, task.optimizer, seed);
}

void write_settings(hg::io::Checkpoint& checkpoint, const Task& task, const std::string& settings) {
  checkpoint.write_text("settings", settings);
  checkpoint.write_text("data", task.checksum);
}

void require_settings(const hg::io::Checkpoint& checkpoint, const Task& task,
                      const std::string& settings) {
  checkpoint.require_text("settings", settings);
  const auto data = checkpoint.metadata.find("data");
  if (data == checkpoint.metadata.end() || data->second == task.checksum) return;
  throw std::invalid_argument(fmt::format(
      "--resume: expected a checkpoint of a training on the same data, {}, got one on {}",
      task.checksum, data->second));
}

TrainingReport train(const Task& task, const Precision& precision, std::uint64_t seed) {
  const double init_scale = first_scale(task, precision, seed);
  hg::manual_seed(seed);
  const std::int64_t bytes_before = hg::allocator::stats(task.device).current;
  hg::allocator::reset_peak(task.device);

  Trainer trainer(task, precision, init_scale);
  const auto epochs = (task.graph ? make_replayed_epochs : make_plain_epochs)(task, trainer, seed);
  const std::string options = settings(task, precision, seed);
  const std::int64_t per_epoch = epochs->steps_per_epoch(), all_steps = task.epochs * per_epoch;
  const std::int64_t resumed = resume(task, options, all_steps, trainer);
  epochs->seek(resumed);
  const std::int64_t end = resumed + std::min(task.steps, all_steps - resumed);
  Progress progress(std::string(precision.name), task.score_text, task.epochs - resumed / per_epoch,
                    end - resumed);
  const hg::RunScope run(task.page, reported_run(task, precision, seed, trainer, end - resumed));
  TrainingReport report;
  report.saves = programs::Saves("mnist_mlp", task.save);
  report.precision = precision.name;
  report.seed = seed;
  if (precision.scales_loss) report.init_scale = trainer.scale();
  hg::report::TracedRun traced(task.traces, run_name(task, precision, seed),
                               hg::amp::NamedModel(trainer.model()), trainer.optimizer(), options,
                               resumed);
  programs::RunningMedian seconds;
  std::vector<hg::Tensor> weights_before;
  std::int64_t at = resumed;
  for (bool is_stopped = false; at < end && !is_stopped;) {
    if (at == resumed || at % per_epoch == 0) report.epochs.emplace_back();
    EpochReport& epoch = report.epochs.back();
    const std::int64_t steps =
        std::min({end - at, per_epoch - at % per_epoch, task.save_every - at % task.save_every});
    const auto before = [&](std::int64_t step) {
      if (at + step + 1 < end) return;
      report.peak_bytes = hg::allocator::stats(task.device).peak - bytes_before;
      weights_before = trainer.weights();
    };
    const auto after = [&](const StepFigures& figures) {
      if (task.page != nullptr) task.page->step(figures.loss, figures.score / task.score_unit);
      seconds.add(figures.seconds);
      const auto count = static_cast<double>(++epoch.steps);
      epoch.loss += (figures.loss - epoch.loss) / count;
      epoch.score += (figures.score - epoch.score) / count;
      if (precision.scales_loss) epoch.scale = trainer.scale();
      epoch.skipped = trainer.skipped();
      traced.end_step({.loss = figures.loss,
                       .score = figures.score,
                       .score_name = task.score_tag,
                       .scale = epoch.scale,
                       .skipped = epoch.skipped,
                       .grad_norm = figures.grad_norm,
                       .lr = task.lr});
      progress.show(std::ssize(report.epochs), seconds.count(), epoch);
    };
    at += epochs->run(steps, {before, after});
    is_stopped = programs::is_interrupted();
    const bool ends_epoch = at % per_epoch == 0, ends = ends_epoch || at == end || is_stopped;
    if (ends) progress.end_epoch(std::ssize(report.epochs), epoch);
    if (!ends && at % task.save_every != 0) continue;
    report.saves.save(at, [&](const auto& file) {
      progress.clear();  // for a warning
      save(file, task, options, trainer, at);
    });
  }
  progress.end();

  report.steps = at;
  report.steps_left = end - at;
  report.median_step = seconds.value();
  if (at == end) report.moved_weights = fraction_of_differences(weights_before, trainer.weights());
  const hg::NoGradGuard no_grad;
  const hg::Tensor test_x = task.test.first.to(task.device),
                   test_y = task.test.second.to(task.device);
  report.test_score = task.score(trainer.forward(test_x, test_y).output, test_y).item();
  if (task.page != nullptr) {
    task.page->result("test " + task.score_name, report.test_score / task.score_unit);
  }
  return report;
}
