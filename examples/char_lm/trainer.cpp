#include "trainer.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <vector>

#include <fmt/core.h>
#include <halfgrad/io/checkpoint.h>
#include <halfgrad/report/trace/crc32c.h>

namespace hg = halfgrad;

namespace {

/// Applies weight decay to matrices and embeddings, but not to biases and norm weights.
std::vector<hg::optim::ParamGroup> parameter_groups(const hg::nn::Module& module, double decay) {
  hg::optim::ParamGroup matrices{.weight_decay = decay}, vectors{.weight_decay = 0.0};
  for (const hg::Tensor& parameter : module.parameters()) {
    (parameter.dim() >= 2 ? matrices : vectors).params.push_back(parameter);
  }
  return {matrices, vectors};
}

/// Learning rate as a factor of the peak: rises linearly, then falls to 0.1 along a cosine.
double lr_factor(std::int64_t step, const Options& options) {
  const auto done = static_cast<double>(step), warm_up = static_cast<double>(options.warm_up);
  if (done < warm_up) return (done + 1) / (warm_up + 1);
  const double rest = std::max(static_cast<double>(options.steps) - warm_up, 1.0);
  const double angle = std::numbers::pi * std::min((done - warm_up) / rest, 1.0);
  return 0.1 + 0.9 * (1 + std::cos(angle)) / 2;
}

/// The options that determine the bits of a training, except for the text.
std::string settings(const Options& options, const Corpus& corpus) {
  return fmt::format(
      "--model {} --precision {} --steps {} --batch {} --accumulation {} --context {} --layers {} "
      "--heads {} --width {} --dropout {} --lr {} --warm-up {} --weight-decay {} --clip {} "
      "--seed {}, {} characters",
      options.model, options.precision, options.steps, options.batch, options.accumulation,
      options.context, options.layers, options.heads, options.width, options.dropout, options.lr,
      options.warm_up, options.weight_decay, options.clip, options.seed, corpus.train.size());
}

/// The checksum of the text, which tells a checkpoint's text from others.
std::string checksum(const Corpus& corpus) {
  const std::string text =
      corpus.alphabet.decode(corpus.train) + corpus.alphabet.decode(corpus.validation);
  return fmt::format("crc32c {:08x}", hg::report::crc32c(text));
}

/// Number of steps of which the scaler keeps a report, for the page. A checkpoint would contain
/// them, so a training that is saved keeps none: its file does not depend on --report.
std::int64_t history(const Options& options) {
  return !options.report.empty() && options.save.empty() && options.resume.empty() ? 64 : 0;
}

}  // namespace

hg::Tensor loss_of(const Model& model, const hg::data::Batch& batch, const Options& options) {
  const hg::amp::Autocast autocast(
      options.device.type(),
      {.dtype = options.autocast(), .enabled = options.autocast().has_value()});
  const hg::Tensor logits = model.logits(batch.first.to(options.device));
  return hg::cross_entropy(logits.view({-1, logits.size(-1)}),
                           batch.second.to(options.device).view({-1}));
}

Trainer::Trainer(const Model& model, const Corpus& corpus, const Options& options)
    : model_(model),
      options_(options),
      settings_(settings(options, corpus)),
      checksum_(checksum(corpus)),
      batches_(corpus.loader(corpus.train,
                             {.batch_size = options.batch, .shuffle = true, .seed = options.seed})),
      optimizer_(parameter_groups(model.module, options.weight_decay),
                 {.lr = options.lr, .betas = {0.9, 0.99}}),
      schedule_(optimizer_, [&options](std::int64_t step) { return lr_factor(step, options); }),
      scaler_({.enabled = options.precision == "fp16", .history = history(options)}) {
  if (!options.resume.empty()) resume();
}

Trainer::Step Trainer::step() {
  Step result;
  optimizer_.zero_grad();
  for (std::int64_t i = 0; i < options_.accumulation; ++i) {
    const hg::data::Batch batch = batches_.next();
    const hg::Tensor loss =
        loss_of(model_, batch, options_) / static_cast<double>(options_.accumulation);
    scaler_.scale(loss).backward();
    result.loss += loss.item();
    result.characters += batch.second.numel();
  }
  scaler_.unscale_(optimizer_);
  const hg::Tensor grad_norm =
      hg::nn::utils::clip_grad_norm_(model_.module.parameters(), options_.clip);
  scaler_.step(optimizer_);
  scaler_.update();
  if (options_.traces) result.grad_norm = grad_norm.item();
  schedule_.step();
  ++steps_;
  return result;
}

void Trainer::save(const std::filesystem::path& file) const {
  hg::io::Checkpoint checkpoint;
  checkpoint.write_text("settings", settings_);
  checkpoint.write_text("data", checksum_);
  checkpoint.write("steps", steps_);
  checkpoint.write("model", model_.module);
  checkpoint.write("optimizer", optimizer_);
  checkpoint.write("schedule", schedule_);
  checkpoint.write("scaler", scaler_);
  checkpoint.write("random", hg::default_generator());
  hg::io::save_checkpoint(file, checkpoint);
}

void Trainer::resume() {
  const hg::io::Checkpoint checkpoint = hg::io::load_checkpoint(options_.resume);
  checkpoint.require_text("settings", settings_);
  const auto data = checkpoint.metadata.find("data");  // older checkpoints have none
  if (data != checkpoint.metadata.end() && data->second != checksum_) {
    throw std::invalid_argument(
        fmt::format("--resume: expected a checkpoint of a training on the same text, {}, got one "
                    "on {}",
                    checksum_, data->second));
  }
  steps_ = checkpoint.integer("steps");
  if (steps_ >= options_.last_step()) {
    throw std::invalid_argument(
        fmt::format("--resume: expected a checkpoint of fewer than {} updates, got one of {}",
                    options_.last_step(), steps_));
  }
  checkpoint.read("model", model_.module);
  checkpoint.read("optimizer", optimizer_);
  checkpoint.read("schedule", schedule_);
  checkpoint.read("scaler", scaler_);
  checkpoint.read("random", hg::default_generator());
  batches_.seek(steps_ * options_.accumulation);
}
