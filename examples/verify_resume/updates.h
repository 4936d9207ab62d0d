#pragma once

#include <cstdint>
#include <memory>

#include <halfgrad/halfgrad.h>
#include <halfgrad/io/checkpoint.h>

/// How gradients become new parameters: an optimizer with a schedule, and a scaler of losses.
class Updates {
 public:
  virtual ~Updates() = default;

  virtual halfgrad::Tensor scale(const halfgrad::Tensor& loss) = 0;
  /// After each backward pass but a window's last one.
  virtual void accumulate() = 0;
  /// After the last.
  virtual void step() = 0;
  /// Waits for a step that is under way, as a checkpoint does.
  virtual void complete() = 0;

  /// The parameters are up to date from here on.
  virtual void write(halfgrad::io::Checkpoint& checkpoint) = 0;
  /// Behind the model's own part.
  virtual void read(const halfgrad::io::Checkpoint& checkpoint) = 0;
  virtual std::int64_t skipped() const = 0;
};

/// Steps that are done when they return.
std::unique_ptr<Updates> make_plain_updates(const halfgrad::nn::Module& model,
                                            const halfgrad::amp::GradScalerOptions& scaling);

/// Steps on a thread of their own, beside the next window.
std::unique_ptr<Updates> make_async_updates(const halfgrad::nn::Module& model,
                                            const halfgrad::amp::GradScalerOptions& scaling);
