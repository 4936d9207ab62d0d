#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "trainer.h"

/// What one step gave.
struct StepFigures {
  double loss, score, seconds;
};

/// Who wants to know of every step of a run.
struct Watch {
  std::function<void(std::int64_t step)> before;  ///< numbered from the run's first
  std::function<void(const StepFigures&)> after;
};

/// Runs a trainer over a task's data, epoch after epoch, in the order of a DataLoader.
class Epochs {
 public:
  virtual ~Epochs() = default;
  /// The next `steps` steps, which are all of one epoch, or fewer after an interrupt. Returns how
  /// many.
  virtual std::int64_t run(std::int64_t steps, const Watch& watch) = 0;
  virtual std::int64_t steps_per_epoch() const = 0;
  /// The next step is the one after this many.
  virtual void seek(std::int64_t steps) = 0;
};

/// Batches come from the loader one by one, and the host reads what each step gave.
std::unique_ptr<Epochs> make_plain_epochs(const Task& task, Trainer& trainer, std::uint64_t seed);

/// The data lie on the device, and so do the order of the epoch and the number of the step. A step
/// fetches its batch, trains and writes down its loss and score there, so a graph can hold all of
/// it: an epoch is a row of replays, and the host reads once, at its end. The figures are the plain
/// epochs' own; only the seconds are the run's mean.
std::unique_ptr<Epochs> make_replayed_epochs(const Task& task, Trainer& trainer,
                                             std::uint64_t seed);
