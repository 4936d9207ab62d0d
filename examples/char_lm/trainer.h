#pragma once

#include <filesystem>

#include <halfgrad/data/batch_stream.h>
#include <halfgrad/halfgrad.h>

#include "training.h"

/// The mean over the batch's characters.
halfgrad::Tensor loss_of(const Model& model, const halfgrad::data::Batch& batch,
                         const Options& options);

/// A model and all that belongs to its training: where it is, a checkpoint says bit for bit.
class Trainer {
 public:
  /// Goes on from options.resume. Throws std::invalid_argument where that is a checkpoint of
  /// another training, or of one that has ended.
  Trainer(const Model& model, const Corpus& corpus, const Options& options);

  struct Step {
    double loss = 0;  ///< the mean
    std::int64_t characters = 0;
  };
  /// One update.
  Step step();

  void save(const std::filesystem::path& file) const;

  std::int64_t steps() const { return steps_; }
  double lr() const { return schedule_.get_last_lr()[0]; }
  const halfgrad::amp::GradScaler& scaler() const { return scaler_; }

 private:
  void resume();

  Model model_;
  const Options& options_;
  std::string settings_;
  halfgrad::data::BatchStream batches_;
  halfgrad::optim::AdamW optimizer_;
  halfgrad::optim::LambdaLR schedule_;
  halfgrad::amp::GradScaler scaler_;
  std::int64_t steps_ = 0;
};
