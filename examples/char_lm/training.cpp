#include "training.h"

#include <algorithm>
#include <chrono>

#include <fmt/core.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/interrupt.h>
#include <halfgrad/programs/table.h>

#include "trainer.h"

namespace hg = halfgrad;

namespace {

double validate(const Model& model, const Corpus& corpus, const Options& options) {
  const hg::NoGradGuard no_grad;
  hg::nn::Module module = model.module;
  module.eval();
  auto loader = corpus.loader(corpus.validation, {.batch_size = options.batch, .shuffle = true});
  double sum = 0;
  std::int64_t count = 0;
  for (const hg::data::Batch& batch : loader) {
    sum += loss_of(model, batch, options).item();
    if (++count == options.validation_batches) break;
  }
  module.train();
  return sum / static_cast<double>(count);
}

}  // namespace

Validation train(const Model& model, const Corpus& corpus, const Options& options,
                 programs::Saves& saves, hg::RunReport* page) {
  Trainer trainer(model, corpus, options);
  const hg::RunScope run(page, {.name = options.precision,
                                .task = "char_lm: " + options.model,
                                .model = hg::amp::NamedModel(model.module),
                                .optimizers = {&trainer.optimizer()},
                                .scaler = &trainer.scaler(),
                                .every = std::max<std::int64_t>(2, options.last_step() / 24)});
  const programs::Table table({{.header = "step", .width = 6},
                               {.header = "loss", .width = 8},
                               {.header = "validation"},
                               {.header = "lr", .width = 7, .rank = 1},
                               {.header = "scale", .width = 6, .rank = 2},
                               {.header = "skipped", .rank = 3},
                               {.header = "tokens/s", .rank = 4}});
  table.print_header();
  hg::report::TracedRun traced(options.traces.get(), options.model + "-" + options.precision,
                               hg::amp::NamedModel(model.module), trainer.optimizer(),
                               trainer.description(), trainer.steps());
  double loss_sum = 0, seconds = 0;
  std::int64_t count = 0, tokens = 0;  // since the last printed row
  Validation last{};
  const auto save = [&] {
    saves.save(trainer.steps(), [&](const auto& file) { trainer.save(file); });
  };
  while (trainer.steps() < options.last_step()) {
    const auto start = std::chrono::steady_clock::now();
    const double lr = trainer.lr();
    const Trainer::Step step = trainer.step();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (options.traces) {
      const hg::amp::GradScaler& scaler = trainer.scaler();
      traced.end_step({.loss = step.loss,
                       .scale = scaler.get_scale(),
                       .skipped = scaler.counts().skipped_steps,
                       .grad_norm = step.grad_norm,
                       .lr = lr});
    }
    loss_sum += step.loss;
    tokens += step.characters;
    if (page != nullptr) page->step(step.loss);
    ++count;

    const bool is_last = trainer.steps() == options.last_step();
    if (programs::is_interrupted() && !is_last) {
      save();
      last.steps = trainer.steps();
      return last;
    }
    if (!is_last && trainer.steps() % options.validate_every != 0) continue;
    last = {validate(model, corpus, options), trainer.scaler().get_scale(),
            trainer.scaler().counts().skipped_steps, trainer.steps()};
    if (page != nullptr && is_last) page->result("validation loss (nats)", last.loss);
    save();
    table.print_row(
        {std::to_string(trainer.steps()),
         fmt::format("{:.4f}", programs::printed(loss_sum / static_cast<double>(count))),
         fmt::format("{:.4f}", programs::printed(last.loss)), fmt::format("{:.2g}", trainer.lr()),
         fmt::format("{:g}", last.scale), std::to_string(last.skipped),
         fmt::format("{:.0f}", static_cast<double>(tokens) / seconds)});
    std::fflush(stdout);
    count = tokens = 0;
    loss_sum = seconds = 0;
  }
  return last;
}
