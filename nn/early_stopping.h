#pragma once

#include <cstdint>
#include <optional>

#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct EarlyStoppingOptions {
  std::int64_t patience = 10;  ///< epochs without improvement after which training stops
  double min_delta = 0;        ///< a smaller change is no improvement
  bool maximize = false;       ///< the metric is to grow, as an accuracy, and not a loss
};

/// Stops a training when a metric of the validation data no longer improves, and keeps the weights
/// of the best epoch:
///
///   nn::EarlyStopping early_stopping(model, {.patience = 20});
///   for (int epoch = 0; epoch < 500; ++epoch) {
///     train_one_epoch();
///     if (early_stopping.step(validation_loss())) break;
///   }
///   early_stopping.restore_best();
class EarlyStopping {
 public:
  /// Throws std::invalid_argument for patience < 1, and for min_delta < 0 or NaN.
  explicit EarlyStopping(const Module& model, EarlyStoppingOptions options = {});

  /// Takes the metric of the next epoch. If it is better than the best one by more than min_delta,
  /// copies the model's parameters and buffers. Returns true when `patience` epochs in a row were
  /// no better. NaN is no improvement.
  [[nodiscard]] bool step(double metric);

  /// Copies the weights of the best epoch into the model. The optimizer keeps its state. Throws
  /// std::runtime_error if no epoch had a metric other than NaN.
  void restore_best();

  double best() const { return best_; }                    ///< NaN before the first
  std::int64_t best_epoch() const { return best_epoch_; }  ///< counted from 0; -1 before the first

 private:
  Module model_;
  EarlyStoppingOptions options_;
  std::optional<StateDict> weights_;
  double best_;
  std::int64_t epoch_ = -1, best_epoch_ = -1;
};

}  // namespace halfgrad::nn
