#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>

#include "training.h"

/// A model being trained in one precision.
class Trainer {
 public:
  /// Both must outlive it.
  Trainer(const Task& task, const Precision& precision);

  struct Step {
    halfgrad::Tensor output, loss;
  };
  /// A whole step on a batch on the task's device; the host reads nothing.
  Step step(const halfgrad::Tensor& x, const halfgrad::Tensor& y);
  Step forward(const halfgrad::Tensor& x, const halfgrad::Tensor& y) const;

  double scale() const { return scaler_.get_scale(); }
  std::int64_t skipped() const { return scaler_.counts().skipped_steps; }
  /// Weights, optimizer, scaler, random numbers: all but the place in the data.
  void write(halfgrad::io::Checkpoint& checkpoint) const;
  void read(const halfgrad::io::Checkpoint& checkpoint);

  /// Copies of what the optimizer updates: the weights, or their masters.
  std::vector<halfgrad::Tensor> weights() const;

 private:
  const Task& task_;
  const Precision& precision_;
  halfgrad::nn::Sequential model_;
  std::unique_ptr<halfgrad::optim::Optimizer> optimizer_;
  std::optional<halfgrad::amp::MasterWeights> masters_;
  halfgrad::amp::GradScaler scaler_;
};
