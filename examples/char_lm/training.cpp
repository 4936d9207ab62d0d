#include "training.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/core.h>

namespace hg = halfgrad;

namespace {

/// Weight decay is for what multiplies: matrices and tables, not gains and biases.
std::vector<hg::optim::ParamGroup> parameter_groups(const hg::nn::Module& module, double decay) {
  hg::optim::ParamGroup matrices{.weight_decay = decay}, vectors{.weight_decay = 0.0};
  for (const hg::Tensor& parameter : module.parameters()) {
    (parameter.dim() >= 2 ? matrices : vectors).params.push_back(parameter);
  }
  return {matrices, vectors};
}

/// Up in a line, then down to a tenth along a cosine.
double lr_factor(std::int64_t step, const Options& options) {
  const auto done = static_cast<double>(step), warm_up = static_cast<double>(options.warm_up);
  if (done < warm_up) return (done + 1) / (warm_up + 1);
  const double rest = std::max(static_cast<double>(options.steps) - warm_up, 1.0);
  const double angle = std::numbers::pi * std::min((done - warm_up) / rest, 1.0);
  return 0.1 + 0.9 * (1 + std::cos(angle)) / 2;
}

hg::Tensor loss_of(const Model& model, const hg::data::Batch& batch, const Options& options) {
  const hg::amp::Autocast autocast(
      options.device.type(),
      {.dtype = options.autocast(), .enabled = options.autocast().has_value()});
  const hg::Tensor logits = model.logits(batch.first.to(options.device));
  return hg::cross_entropy(logits.view({-1, logits.size(-1)}),
                           batch.second.to(options.device).view({-1}));
}

/// Batches without end.
class Stream {
 public:
  explicit Stream(hg::data::DataLoader loader) : loader_(std::move(loader)), at_(loader_.begin()) {}
  hg::data::Batch next() {
    if (at_ == std::default_sentinel) at_ = loader_.begin();
    const hg::data::Batch batch = *at_;
    ++at_;
    return batch;
  }

 private:
  hg::data::DataLoader loader_;
  hg::data::DataLoader::Iterator at_;
};

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
  Stream batches(corpus.loader(
      corpus.train, {.batch_size = options.batch, .shuffle = true, .seed = options.seed}));
  hg::optim::AdamW optimizer(parameter_groups(model.module, options.weight_decay),
                             {.lr = options.lr, .betas = {0.9, 0.99}});
  hg::optim::LambdaLR schedule(optimizer,
                               [&](std::int64_t step) { return lr_factor(step, options); });
  hg::amp::GradScaler scaler({.enabled = options.precision == "fp16"});

  fmt::print("{:>6} {:>10} {:>12} {:>9} {:>8} {:>8} {:>9}\n", "step", "loss", "validation", "lr",
             "scale", "skipped", "tokens/s");
  std::int64_t tokens = 0;
  double loss_sum = 0, seconds = 0;
  Validation last{};
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < options.accumulation; ++i) {
      const hg::data::Batch batch = batches.next();
      const hg::Tensor loss =
          loss_of(model, batch, options) / static_cast<double>(options.accumulation);
      scaler.scale(loss).backward();
      loss_sum += loss.item();
      tokens += batch.second.numel();
    }
    scaler.unscale_(optimizer);
    hg::nn::utils::clip_grad_norm_(model.module.parameters(), options.clip);
    scaler.step(optimizer);
    scaler.update();
    optimizer.zero_grad();
    schedule.step();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

    if (step % options.validate_every != 0 && step != options.steps) continue;
    const std::int64_t since = (step - 1) % options.validate_every + 1;
    last = {validate(model, corpus, options), scaler.get_scale(), scaler.counts().skipped_steps};
    fmt::print("{:>6} {:>10.4f} {:>12.4f} {:>9.2g} {:>8g} {:>8} {:>9.0f}\n", step,
               loss_sum / static_cast<double>(since), last.loss, schedule.get_last_lr()[0],
               last.scale, last.skipped, static_cast<double>(tokens) / seconds);
    std::fflush(stdout);
    tokens = 0;
    loss_sum = seconds = 0;
  }
  return last;
}
