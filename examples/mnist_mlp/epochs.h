#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "trainer.h"

/// Result of one step.
struct StepFigures {
  double loss, score, seconds;
  std::optional<double> grad_norm = {};  ///< before clipping, if the host has read it
};

/// Callbacks for every step of a run.
struct Watch {
  std::function<void(std::int64_t step)> before;  ///< counts from 0 in each run
  std::function<void(const StepFigures&)> after;
};

/// Runs a trainer over a task's data, epoch after epoch, in the order of a DataLoader.
class Epochs {
 public:
  virtual ~Epochs() = default;
  /// Runs the next `steps` steps, which must belong to one epoch; fewer after an interrupt. Returns
  /// how many it ran.
  virtual std::int64_t run(std::int64_t steps, const Watch& watch) = 0;
  virtual std::int64_t steps_per_epoch() const = 0;
  /// Continues after the first `steps` steps.
  virtual void seek(std::int64_t steps) = 0;
};

/// Loads batches one by one; the host reads the result of each step.
std::unique_ptr<Epochs> make_plain_epochs(const Task& task, Trainer& trainer, std::uint64_t seed);

/// Keeps the data, the order of the epoch and the index of the step on the device. A step gathers
/// its batch, trains and stores its loss and score there, so a graph can contain the whole step. An
/// epoch is a sequence of replays; the host reads the results once, at its end. They equal those of
/// plain epochs, except that the seconds of a step are the mean of the run.
std::unique_ptr<Epochs> make_replayed_epochs(const Task& task, Trainer& trainer,
                                             std::uint64_t seed);
