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

/// A copy of all that a training run needs to go on as if it had never stopped, each part under a
/// name of the caller's:
///
///   io::Checkpoint checkpoint;
///   checkpoint.write("model", model);
///   checkpoint.write("optimizer", optimizer);
///   checkpoint.write("random", default_generator());
///   checkpoint.write("step", step);
///   io::save_checkpoint("run.safetensors", checkpoint);
///
/// and, in a program that has made the same objects anew, load_checkpoint and read() for write().
/// Every bit survives, so what follows is what would have followed.
///
/// Part NAME holds tensors called NAME/...; numbers are 0-dim int64 or float64 tensors; text is
/// metadata. A part written by others needs nothing but a prefix of its own.
///
/// write() replaces the whole part: of what was called NAME/... before, nothing is left.
/// read() throws std::invalid_argument for what is missing or does not fit, naming it.
struct Checkpoint {
  TensorMap tensors;
  Metadata metadata;

  /// NAME/0.weight and so on: parameters and buffers; NAME/0.weight.grad: the gradients there are,
  /// so that a window of accumulation may be interrupted. Nothing is converted: dtypes must be
  /// equal.
  void write(const std::string& name, const nn::Module& module);
  void read(const std::string& name, nn::Module& module) const;

  /// NAME/3.exp_avg: of the fourth parameter; NAME/group0.lr: options; NAME/steps, skipped_steps:
  /// its counts; and which optimizer it is.
  void write(const std::string& name, const optim::Optimizer& optimizer);
  void read(const std::string& name, optim::Optimizer& optimizer) const;

  /// After synchronize(), which both call. As an optimizer, with its own float32 parameters,
  /// NAME/3.parameter, and what it has accumulated: NAME/3.gradient, and NAME/gradient_scale.
  void write(const std::string& name, optim::AsyncOptimizer& optimizer);
  void read(const std::string& name, optim::AsyncOptimizer& optimizer) const;

  /// NAME/last_epoch, base_lrs, last_lr, the steps since; NAME/0/...: the schedulers of a sequence.
  /// To be read after its optimizer, whose steps it counts.
  void write(const std::string& name, const optim::LRScheduler& scheduler);
  void read(const std::string& name, optim::LRScheduler& scheduler) const;

  /// NAME/scale and PyTorch's other keys, NAME/counters, NAME/log. To be taken between update() and
  /// unscale_(); nothing of a disabled scaler.
  void write(const std::string& name, const amp::GradScaler& scaler);
  void read(const std::string& name, amp::GradScaler& scaler) const;
  void write(const std::string& name, const amp::AsyncGradScaler& scaler);
  void read(const std::string& name, amp::AsyncGradScaler& scaler) const;

  /// NAME/seed, NAME/stream: the bits of the next key.
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
  /// The tensors of a part, by their names within it.
  TensorMap part(const std::string& name) const;
  Tensor tensor(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;  ///< of a 1-dim tensor
  std::vector<double> numbers(const std::string& name) const;
  const std::string& text(const std::string& name) const;

  /// Throws unless text(name) is `text`: for settings, such as the precision, that must not change.
  void require_text(const std::string& name, const std::string& text) const;

 private:
  void write_integer(const std::string& name, std::int64_t number, bool is_unsigned);
};

/// One safetensors file, replaced as a whole: whatever happens, the old checkpoint or the new one
/// is there. The same state gives the same bytes. Throws as save_safetensors.
void save_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);

/// Throws FormatError, with code unsupported_version for a file that is no checkpoint of version 1.
Checkpoint load_checkpoint(const std::filesystem::path& path);

}  // namespace halfgrad::io
