#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>

#include "training.h"

/// Makes the optimizer that the task names.
std::unique_ptr<halfgrad::optim::Optimizer> make_optimizer(
    const Task& task, const Precision& precision,
    std::vector<halfgrad::optim::ParamGroup> parameters);

/// Trains a model in one precision.
class Trainer {
 public:
  /// Keeps references: task and precision must outlive the trainer.
  Trainer(const Task& task, const Precision& precision,
          double init_scale = halfgrad::amp::GradScalerOptions().init_scale);

  struct Step {
    halfgrad::Tensor output, loss, grad_norm;  ///< grad_norm: before clipping; step() only
  };
  /// Runs a whole step on a batch that is on the task's device; the host reads no result.
  Step step(const halfgrad::Tensor& x, const halfgrad::Tensor& y);
  Step forward(const halfgrad::Tensor& x, const halfgrad::Tensor& y) const;

  const halfgrad::nn::Sequential& model() const { return model_; }
  halfgrad::optim::Optimizer& optimizer() const { return *optimizer_; }
  double scale() const { return scaler_.get_scale(); }
  std::int64_t skipped() const { return scaler_.counts().skipped_steps; }
  const halfgrad::amp::GradScaler& scaler() const { return scaler_; }
  /// Write and read the state of weights, optimizer, scaler and random generator, but not the
  /// position in the data.
  void write(halfgrad::io::Checkpoint& checkpoint) const;
  void read(const halfgrad::io::Checkpoint& checkpoint);

  /// Copies of the tensors that the optimizer updates: the weights, or their masters.
  std::vector<halfgrad::Tensor> weights() const;

 private:
  const Task& task_;
  const Precision& precision_;
  halfgrad::nn::Sequential model_;
  std::unique_ptr<halfgrad::optim::Optimizer> optimizer_;
  std::optional<halfgrad::amp::MasterWeights> masters_;
  halfgrad::amp::GradScaler scaler_;
};
