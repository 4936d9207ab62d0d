#include "training.h"

#include <chrono>

#include <fmt/core.h>

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

Validation train(const Model& model, const Corpus& corpus, const Options& options) {
  Trainer trainer(model, corpus, options);
  fmt::print("{:>6} {:>10} {:>12} {:>9} {:>8} {:>8} {:>9}\n", "step", "loss", "validation", "lr",
             "scale", "skipped", "tokens/s");
  double loss_sum = 0, seconds = 0;
  std::int64_t count = 0, tokens = 0;  // since the last line
  Validation last{};
  while (trainer.steps() < options.last_step()) {
    const auto start = std::chrono::steady_clock::now();
    const Trainer::Step step = trainer.step();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    loss_sum += step.loss;
    tokens += step.characters;
    ++count;

    const bool is_last = trainer.steps() == options.last_step();
    if (!is_last && trainer.steps() % options.validate_every != 0) continue;
    last = {validate(model, corpus, options), trainer.scaler().get_scale(),
            trainer.scaler().counts().skipped_steps};
    if (!options.save.empty()) trainer.save(options.save);
    fmt::print("{:>6} {:>10.4f} {:>12.4f} {:>9.2g} {:>8g} {:>8} {:>9.0f}\n", trainer.steps(),
               loss_sum / static_cast<double>(count), last.loss, trainer.lr(), last.scale,
               last.skipped, static_cast<double>(tokens) / seconds);
    std::fflush(stdout);
    count = tokens = 0;
    loss_sum = seconds = 0;
  }
  return last;
}
