#pragma once

#include <filesystem>

#include <halfgrad/data/batch_stream.h>
#include <halfgrad/halfgrad.h>

#include "training.h"

/// Mean loss over the characters of a batch.
halfgrad::Tensor loss_of(const Model& model, const halfgrad::data::Batch& batch,
                         const Options& options);

/// A model with its optimizer, schedule, scaler and data; a checkpoint stores its state bit for
/// bit.
class Trainer {
 public:
  /// Continues from options.resume. Throws std::invalid_argument if that is a checkpoint of another
  /// training, of another text, or of a completed training.
  Trainer(const Model& model, const Corpus& corpus, const Options& options);

  struct Step {
    double loss = 0;       ///< mean over the characters
    double grad_norm = 0;  ///< before clipping
    std::int64_t characters = 0;
  };
  /// Runs one update of the weights.
  Step step();

  void save(const std::filesystem::path& file) const;

  std::int64_t steps() const { return steps_; }
  double lr() const { return schedule_.get_last_lr()[0]; }
  halfgrad::optim::Optimizer& optimizer() { return optimizer_; }
  /// The options that determine the bits of a training, as text.
  const std::string& description() const { return settings_; }
  const halfgrad::amp::GradScaler& scaler() const { return scaler_; }

 private:
  void resume();

  Model model_;
  const Options& options_;
  std::string settings_, checksum_;
  halfgrad::data::BatchStream batches_;
  halfgrad::optim::AdamW optimizer_;
  halfgrad::optim::LambdaLR schedule_;
  halfgrad::amp::GradScaler scaler_;
  std::int64_t steps_ = 0;
};
