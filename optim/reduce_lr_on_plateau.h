#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

enum class PlateauMode { min, max };  ///< whether a lower or a higher metric is better
enum class ThresholdMode { rel, abs };

struct ReduceLROnPlateauOptions {
  PlateauMode mode = PlateauMode::min;
  double factor = 0.1;
  std::int64_t patience = 10;
  double threshold = 1e-4;
  ThresholdMode threshold_mode = ThresholdMode::rel;
  std::int64_t cooldown = 0;
  std::vector<double> min_lr = {0};  ///< one for all groups, or one for each
  double eps = 1e-8;
};

/// Multiplies lr by `factor` when a metric has not improved for more than `patience` epochs, as
/// torch.optim.lr_scheduler.ReduceLROnPlateau:
///
///   optim::ReduceLROnPlateau schedule(optimizer, {.patience = 3});
///   schedule.step(validation_loss.item());  // after each epoch
///
/// A metric improves if it is below best * (1 - threshold) or, with ThresholdMode::abs, below
/// best - threshold; with PlateauMode::max, above best * (1 + threshold) or best + threshold. NaN
/// does not improve. Bad epochs do not count in the `cooldown` epochs after a reduction. lr does
/// not fall below min_lr, and a change of at most `eps` is not made.
class ReduceLROnPlateau {
 public:
  /// A position in the schedule. The options are not part of it, and lr itself is in the
  /// optimizer's state.
  struct State {
    double best;
    std::int64_t num_bad_epochs = 0;
    std::int64_t cooldown_counter = 0;
    std::int64_t last_epoch = 0;
  };

  /// Throws std::invalid_argument unless factor < 1, and if min_lr does not fit the groups.
  explicit ReduceLROnPlateau(Optimizer& optimizer, ReduceLROnPlateauOptions options = {});

  /// Ends an epoch with this value of the loss, or of another metric. Throws std::invalid_argument
  /// if groups were added to the optimizer for which there is no min_lr.
  void step(double metric);

  /// The present rates, by group.
  std::vector<double> get_last_lr() const;
  std::int64_t last_epoch() const { return state_.last_epoch; }
  Optimizer& optimizer() const { return optimizer_; }

  State state_dict() const { return state_; }
  void load_state_dict(const State& state) { state_ = state; }

 private:
  bool is_better(double metric) const;
  double min_lr(std::size_t group) const;
  void check_groups() const;
  void reduce_lr();

  Optimizer& optimizer_;
  ReduceLROnPlateauOptions options_;
  State state_;
};

}  // namespace halfgrad::optim
