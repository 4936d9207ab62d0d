#pragma once

#include <cstdint>
#include <memory>

#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>

/// The part of training that turns gradients into new parameters: an optimizer with a schedule, and
/// a loss scaler.
class Updates {
 public:
  virtual ~Updates() = default;

  virtual halfgrad::Tensor scale(const halfgrad::Tensor& loss) = 0;
  /// Called after each backward pass of a window except the last.
  virtual void accumulate() = 0;
  /// Called after the last one.
  virtual void step() = 0;
  /// Waits for a pending step, as a checkpoint does.
  virtual void complete() = 0;

  /// Afterwards the parameters are up to date.
  virtual void write(halfgrad::io::Checkpoint& checkpoint) = 0;
  /// Called after the model's own part was read.
  virtual void read(const halfgrad::io::Checkpoint& checkpoint) = 0;
  virtual std::int64_t skipped() const = 0;
};

/// Makes steps that have ended when they return.
std::unique_ptr<Updates> make_plain_updates(const halfgrad::nn::Module& model,
                                            const halfgrad::amp::GradScalerOptions& scaling);

/// Makes steps on a thread of their own, beside the next window.
std::unique_ptr<Updates> make_async_updates(const halfgrad::nn::Module& model,
                                            const halfgrad::amp::GradScalerOptions& scaling);
