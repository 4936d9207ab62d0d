#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/amp/inspector/scale_timeline.h>
#include <halfgrad/nn/module.h>
#include <halfgrad/report/run_report.h>

/// So large that the first gradients overflow.
inline constexpr double kFirstScale = 0x1p24;

/// The result of one training step.
struct Step {
  double loss = 0;
  double scale = 0;  ///< after the step
  bool skipped = false;
  double seen = std::numeric_limits<double>::quiet_NaN();  ///< a value that the loop is about
};

/// The page that records each step, or nullptr.
inline halfgrad::RunReport* page = nullptr;

/// The steps of a training.
class Trace : public std::vector<Step> {
 public:
  /// The scaler tells the causes of skipped steps, with the names of the model's parameters. It
  /// must live while steps are added. `optimizers` are in the order of their steps.
  Trace(const halfgrad::amp::GradScaler& scaler, const halfgrad::nn::Module& model,
        const std::vector<const halfgrad::optim::Optimizer*>& optimizers)
      : scaler_(scaler), names_(halfgrad::amp::NamedModel(model), optimizers) {}

  /// Adds a step that has ended.
  void push_back(const Step& step) {
    if (page != nullptr) {
      const double first_scale = step.skipped ? kFirstScale : step.scale;
      const bool has_loss = step.loss != 0;  // a step that threw has none
      page->step({.loss = has_loss ? std::optional(step.loss) : std::nullopt,
                  .score = step.seen,
                  .scale = empty() ? first_scale : back().scale,
                  .next_scale = step.scale,
                  .skipped = step.skipped,
                  .cause = has_loss ? cause_of(step) : "skipped: the forward pass threw"});
    }
    std::vector<Step>::push_back(step);
  }

 private:
  std::string cause_of(const Step& step) const {
    const halfgrad::amp::ScaleTimeline timeline(scaler_.reports(), names_);
    const bool is_told = !timeline.points().empty() && timeline.points().back().is_event();
    if (is_told) return timeline.points().back().text;
    return step.skipped ? "skipped by the loop: all gradients were finite" : "";
  }

  const halfgrad::amp::GradScaler& scaler_;
  halfgrad::amp::ParameterNames names_;
};

// The training loops of mixed precision, one page each.
Trace accumulation(std::int64_t steps);
Trace clip_norm(std::int64_t steps);
Trace clip_value(std::int64_t steps);
Trace gradient_penalty(std::int64_t steps);
Trace several_losses(std::int64_t steps);
Trace scaler_per_loss(std::int64_t steps);
Trace inspection(std::int64_t steps);
Trace disabled(std::int64_t steps);
Trace custom_function(std::int64_t steps);
Trace island(std::int64_t steps);
Trace worker_threads(std::int64_t steps);
Trace exceptions(std::int64_t steps);
Trace checkpointing(std::int64_t steps);
Trace module_policy(std::int64_t steps);
Trace master_weights(std::int64_t steps);

struct Loop {
  std::string_view name;
  std::string_view shows;
  std::string_view heading;  ///< heading of Step::seen; empty if the loop has none
  Trace (*run)(std::int64_t steps);
};

inline constexpr Loop kLoops[] = {
    {"accumulation", "several backward passes, one step: one scale for the whole window", "",
     accumulation},
    {"clip_norm", "unscale, then clip: the norm is that of the true gradients", "gradient norm",
     clip_norm},
    {"clip_value", "unscale, then clamp every element of the gradients", "largest entry",
     clip_value},
    {"gradient_penalty", "the norm of the gradient as a part of the loss", "penalty",
     gradient_penalty},
    {"several_losses", "two losses and two optimizers: each step may be skipped, one update",
     "second skipped", several_losses},
    {"scaler_per_loss", "losses of different sizes, each with a scaler of its own", "second scale",
     scaler_per_loss},
    {"inspection", "look at unscaled gradients and decide not to step", "gradient norm",
     inspection},
    {"disabled", "the same code in float32: regions and scaler switched off", "", disabled},
    {"custom_function", "a function that needs float32, and its backward", "", custom_function},
    {"island", "a part of the network that stays out of autocast", "", island},
    {"worker_threads", "a region belongs to a thread: each worker opens its own", "",
     worker_threads},
    {"exceptions", "an exception leaves the region; the next batch trains on", "thrown",
     exceptions},
    {"checkpointing", "activations computed twice instead of kept, in the same region",
     "bytes kept", checkpointing},
    {"module_policy", "precision by module instead of by op", "", module_policy},
    {"master_weights", "16 bits throughout, and float32 masters of the weights", "",
     master_weights},
};
