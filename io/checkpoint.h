#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/async/async_grad_scaler.h>
#include <halfgrad/async/async_optimizer.h>
#include <halfgrad/core/random.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::io {

/// A copy of the complete state of a training run. The caller chooses the name of each part:
///
///   io::Checkpoint checkpoint;
///   checkpoint.write("model", model);
///   checkpoint.write("optimizer", optimizer);
///   checkpoint.write("random", default_generator());
///   checkpoint.write("step", step);
///   io::save_checkpoint("run.safetensors", checkpoint);
///
/// To resume, a program constructs the same objects, calls load_checkpoint(), and calls read()
/// where it called write(). Every bit survives, so the run continues as if it had never stopped.
///
/// Part NAME holds tensors called NAME/...; scalars are 0-dim int64 or float64 tensors; text is
/// metadata. A program may add parts of its own under other names.
///
/// write() replaces the whole part: it first removes all tensors called NAME/... read() throws
/// std::invalid_argument, which names the tensor, if one is missing or does not fit.
struct Checkpoint {
  TensorMap tensors;
  Metadata metadata;

  /// Stores parameters and buffers as NAME/0.weight and so on, and defined gradients as
  /// NAME/0.weight.grad, so that a run can stop during gradient accumulation. read() does not
  /// convert: dtypes must be equal.
  void write(const std::string& name, const nn::Module& module);
  void read(const std::string& name, nn::Module& module) const;

  /// Stores the optimizer's name, its state (NAME/3.exp_avg belongs to the fourth parameter), its
  /// options (NAME/group0.lr) and its counts (NAME/steps, NAME/skipped_steps).
  void write(const std::string& name, const optim::Optimizer& optimizer);
  void read(const std::string& name, optim::Optimizer& optimizer) const;
  /// Stores the same from a state_dict(), with the name of the optimizer's class, and returns it.
  void write(const std::string& name, const std::string& optimizer,
             const optim::OptimizerState& state);
  optim::OptimizerState optimizer_state(const std::string& name) const;

  /// Calls synchronize() first. Stores what an Optimizer stores, the float32 copies of the
  /// parameters (NAME/3.parameter) and the accumulated gradients (NAME/3.gradient,
  /// NAME/gradient_scale).
  void write(const std::string& name, optim::AsyncOptimizer& optimizer);
  void read(const std::string& name, optim::AsyncOptimizer& optimizer) const;

  /// Stores NAME/last_epoch, base_lrs, last_lr, pending_steps, pending_skipped and fraction, and
  /// the schedulers of a sequence as NAME/0/... Read the optimizer first: the scheduler counts its
  /// steps.
  void write(const std::string& name, const optim::LRScheduler& scheduler);
  void read(const std::string& name, optim::LRScheduler& scheduler) const;

  /// Stores NAME/scale and PyTorch's other keys, NAME/counters and NAME/log; stores nothing for a
  /// disabled scaler. Call it between update() and the next unscale_().
  void write(const std::string& name, const amp::GradScaler& scaler);
  void read(const std::string& name, amp::GradScaler& scaler) const;
  void write(const std::string& name, const amp::AsyncGradScaler& scaler);
  void read(const std::string& name, amp::AsyncGradScaler& scaler) const;

  /// Stores the bits of the next random key as NAME/seed and NAME/stream.
  void write(const std::string& name, const Generator& generator);
  void read(const std::string& name, Generator& generator) const;

  void write(const std::string& name, const Tensor& tensor);
  void write(const std::string& name, std::int64_t number);
  void write(const std::string& name, double number);
  /// Throws std::invalid_argument for a number beyond int64.
  template <std::integral Integer>
  void write(const std::string& name, Integer number) {
    write_integer(name, static_cast<std::int64_t>(number), std::unsigned_integral<Integer>);
  }
  void write_text(const std::string& name, const std::string& text);

  /// Removes the tensors of a part.
  void erase(const std::string& name);
  /// Returns the tensors of a part, by their names without the prefix NAME/.
  TensorMap part(const std::string& name) const;
  Tensor tensor(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;  ///< reads a 1-dim tensor
  std::vector<double> numbers(const std::string& name) const;
  const std::string& text(const std::string& name) const;

  /// Throws unless text(name) equals `text`. Checks settings that must not change, as the
  /// precision.
  void require_text(const std::string& name, const std::string& text) const;

 private:
  void write_integer(const std::string& name, std::int64_t number, bool is_unsigned);
};

/// Replaces one safetensors file atomically: after a crash, either the old or the new checkpoint is
/// complete. The same state gives the same bytes. Throws as save_safetensors.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Throws FormatError; its code is unsupported_version if the file is no checkpoint of version 1.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace halfgrad::io
