#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/op_observer.h>
#include <halfgrad/optim/optimizer.h>
#include <halfgrad/report/trace/tensorboard_writer.h>
#include <halfgrad/report/trace/trace_writer.h>

namespace halfgrad::report {

/// The files of a program's options --trace FILE and --tensorboard DIR; an empty path: not wanted.
class TraceFiles {
 public:
  /// Makes the trace and the folder, so that a path that cannot be written is refused before the
  /// training. Throws files::WriteError.
  TraceFiles(const std::filesystem::path& trace, std::filesystem::path tensorboard);

  /// Writes the trace. Throws files::WriteError, also for an event file that could not be written
  /// during the training.
  void finish();

 private:
  friend class TracedRun;

  std::unique_ptr<TraceWriter> trace_;
  std::filesystem::path tensorboard_;
  std::string failure_;  // the first error about an event
};

/// The figures of a training step.
struct StepValues {
  double loss = 0;
  std::optional<double> score = {};
  std::string score_name = "accuracy";
  std::optional<double> scale = {};      ///< the loss scale after the step
  std::int64_t skipped = 0;              ///< steps skipped so far
  std::optional<double> grad_norm = {};  ///< before clipping
  std::optional<double> lr = {};         ///< the learning rate of the step
};

/// One training in a program's TraceFiles: a group of tracks in the trace, and a run of its own, in
/// a folder of that name, in TensorBoard. Observes the ops of this thread for the trace. Must be a
/// local variable; without files it does nothing.
class TracedRun {
 public:
  /// `options` is a text that TensorBoard shows. `first_step` is that of a resumed checkpoint.
  TracedRun(TraceFiles* files, const std::string& name, amp::NamedModel model,
            optim::Optimizer& optimizer, const std::string& options, std::int64_t first_step = 0);
  ~TracedRun();
  TracedRun(const TracedRun&) = delete;
  TracedRun& operator=(const TracedRun&) = delete;

  /// Records a step after its update. Histograms of the gradients that the parameters then hold are
  /// written after the first step and every 100: their exponents, as log2 of the magnitude. A full
  /// disk does not end the training: TraceFiles::finish() reports it.
  void end_step(const StepValues& values);

 private:
  void trace_step(TraceWriter& trace, const StepValues& values);
  void write_events(const StepValues& values);

  TraceFiles* files_;
  amp::NamedModel model_;
  std::int64_t step_;
  std::optional<double> scale_;  // after the last step
  std::int64_t skipped_ = 0;
  std::optional<TensorBoardWriter> board_;
  std::shared_ptr<void> watch_;
  std::optional<OpObserverGuard> guard_;
};

}  // namespace halfgrad::report
