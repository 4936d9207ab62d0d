#include <halfgrad/optim/lr_scheduler.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/check_option.h>

namespace halfgrad::optim {
namespace {

using halfgrad::detail::check_option;

void check_count(const char* owner, const char* what, std::size_t expected, std::size_t got) {
  if (expected != got) halfgrad::detail::fail(owner, "expected {} {}, got {}", expected, what, got);
}

}  // namespace

LRScheduler::LRScheduler(Optimizer& optimizer)
    : optimizer_(optimizer),
      seen_(optimizer_steps()),
      on_load_(optimizer.register_load_state_dict_post_hook(
          [this](Optimizer&) { seen_ = optimizer_steps(); })) {
  take_in_groups();
}

LRScheduler::~LRScheduler() { on_load_.remove(); }

// Adds base rates of groups that the optimizer has got since the last time.
void LRScheduler::take_in_groups() {
  check_groups();
  std::vector<ParamGroup>& groups = optimizer_.param_groups();
  for (ParamGroup& group : groups) group.lr = group.get_lr();
  for (std::size_t i = base_lrs_.size(); i < groups.size(); ++i) {
    if (!groups[i].initial_lr.has_value()) groups[i].initial_lr = groups[i].lr;
    base_lrs_.push_back(groups[i].initial_lr.value());
    last_lr_.push_back(base_lrs_[i]);
  }
}

LRScheduler::StepCounts LRScheduler::optimizer_steps() const {
  const Array& skipped = optimizer_.skipped_steps();
  const bool matters = !count_skipped_steps_ && skipped.defined();
  return {optimizer_.steps(), matters ? static_cast<std::int64_t>(skipped.item()) : 0};
}

void LRScheduler::step() {
  const StepCounts now = optimizer_steps();
  const std::int64_t skipped = now.skipped - seen_.skipped;
  const bool all_skipped = skipped > 0 && skipped >= now.all - seen_.all;
  if (count_skipped_steps_ || !all_skipped) advance();
  seen_ = now;
}

void LRScheduler::advance() {
  take_in_groups();
  ++last_epoch_;
  set_rates();
  step_count_ = static_cast<unsigned>(last_epoch_);
}

void LRScheduler::restart(const std::vector<double>& rates) {
  last_epoch_ = 0;
  step_count_ = 0;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    optimizer_.param_groups()[i].set_lr(rates[i]);
  }
  set_rates();
}

void LRScheduler::set_base_lr(std::size_t index, double lr) {
  optimizer_.param_groups()[index].initial_lr = lr;
  base_lrs_[index] = lr;
}

double LRScheduler::next_lr(ParamGroup& group, std::size_t) { return group.lr.value(); }

std::vector<double> LRScheduler::get_lrs() {
  std::vector<double> rates;
  for (std::size_t i = 0; i < base_lrs_.size(); ++i) {
    rates.push_back(next_lr(optimizer_.param_groups()[i], i));
  }
  return rates;
}

std::vector<double> LRScheduler::get_current_lrs() const {
  std::vector<double> rates;
  for (const ParamGroup& group : optimizer_.param_groups()) rates.push_back(group.get_lr());
  return rates;
}

void LRScheduler::set_rates() {
  std::vector<double> rates = get_lrs();
  check_count("LRScheduler::get_lrs", "rates", base_lrs_.size(), rates.size());
  last_lr_ = std::move(rates);
  for (std::size_t i = 0; i < last_lr_.size(); ++i) {
    optimizer_.param_groups()[i].set_lr(last_lr_[i]);
  }
}

LRSchedulerState LRScheduler::state_dict() const {
  const StepCounts now = optimizer_steps();
  LRSchedulerState state{.last_epoch = last_epoch_,
                         .base_lrs = base_lrs_,
                         .last_lr = last_lr_,
                         .pending_steps = now.all - seen_.all,
                         .pending_skipped = now.skipped - seen_.skipped};
  // The rates of groups that the next step() will add.
  const std::vector<ParamGroup>& groups = optimizer_.param_groups();
  for (std::size_t i = base_lrs_.size(); i < groups.size(); ++i) {
    state.base_lrs.push_back(groups[i].initial_lr.value_or(groups[i].get_lr()));
    state.last_lr.push_back(state.base_lrs[i]);
  }
  return state;
}

void LRScheduler::load_state_dict(const LRSchedulerState& state) {
  take_in_groups();
  check_count("LRScheduler", "groups", base_lrs_.size(), state.base_lrs.size());
  check_count("LRScheduler", "rates", base_lrs_.size(), state.last_lr.size());
  last_epoch_ = state.last_epoch;
  step_count_ = static_cast<unsigned>(last_epoch_);
  base_lrs_ = state.base_lrs;
  last_lr_ = state.last_lr;
  const StepCounts now = optimizer_steps();
  seen_ = {now.all - state.pending_steps, now.skipped - state.pending_skipped};
}

EpochStepLR::EpochStepLR(Optimizer& optimizer, const StepLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_option(options.step_size > 0, "StepLR", "step_size > 0",
               static_cast<double>(options.step_size));
  set_rates();
}

double EpochStepLR::next_lr(ParamGroup& group, std::size_t) {
  const bool drop = last_epoch() > 0 && last_epoch() % options_.step_size == 0;
  return drop ? *group.lr * options_.gamma : *group.lr;
}

MultiStepLR::MultiStepLR(Optimizer& optimizer, MultiStepLROptions options)
    : LRScheduler(optimizer), options_(std::move(options)) {
  set_rates();
}

double MultiStepLR::next_lr(ParamGroup& group, std::size_t) {
  const auto& milestones = options_.milestones;
  const auto drops = std::count(milestones.begin(), milestones.end(), last_epoch());
  return *group.lr * std::pow(options_.gamma, static_cast<double>(drops));
}

ExponentialLR::ExponentialLR(Optimizer& optimizer, const ExponentialLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  set_rates();
}

double ExponentialLR::next_lr(ParamGroup& group, std::size_t) {
  return last_epoch() == 0 ? *group.lr : *group.lr * options_.gamma;
}

CosineAnnealingLR::CosineAnnealingLR(Optimizer& optimizer, const CosineAnnealingLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_option(options.T_max > 0, "CosineAnnealingLR", "T_max > 0",
               static_cast<double>(options.T_max));
  set_rates();
}

// lr is multiplied by the ratio of two neighbouring values of the cosine curve. The epoch after a
// minimum adds the difference instead: the ratio would divide by zero.
double CosineAnnealingLR::next_lr(ParamGroup& group, std::size_t index) {
  const double lr = *group.lr;
  if (last_epoch() == 0) return lr;
  const double angle = std::numbers::pi / static_cast<double>(options_.T_max);
  if ((last_epoch() - 1 - options_.T_max) % (2 * options_.T_max) == 0) {
    return lr + (base_lr(index) - options_.eta_min) * (1 - std::cos(angle)) / 2;
  }
  const auto height = [angle](std::int64_t epoch) {
    return 1 + std::cos(angle * static_cast<double>(epoch));
  };
  return height(last_epoch()) / height(last_epoch() - 1) * (lr - options_.eta_min) +
         options_.eta_min;
}

LinearLR::LinearLR(Optimizer& optimizer, const LinearLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  const auto& [start_factor, end_factor, total_iters] = options;
  check_option(start_factor > 0 && start_factor <= 1, "LinearLR", "start_factor in (0, 1]",
               start_factor);
  check_option(end_factor >= 0 && end_factor <= 1, "LinearLR", "end_factor in [0, 1]", end_factor);
  check_option(total_iters > 0, "LinearLR", "total_iters > 0", static_cast<double>(total_iters));
  set_rates();
}

double LinearLR::next_lr(ParamGroup& group, std::size_t) {
  const auto& [start_factor, end_factor, total_iters] = options_;
  if (last_epoch() == 0) return *group.lr * start_factor;
  if (last_epoch() > total_iters) return *group.lr;
  const double change = end_factor - start_factor;
  const double previous = static_cast<double>(total_iters) * start_factor +
                          static_cast<double>(last_epoch() - 1) * change;
  return *group.lr * (1 + change / previous);
}

ConstantLR::ConstantLR(Optimizer& optimizer, const ConstantLROptions& options)
    : LRScheduler(optimizer), options_(options) {
  check_option(options.factor >= 0 && options.factor <= 1, "ConstantLR", "factor in [0, 1]",
               options.factor);
  set_rates();
}

double ConstantLR::next_lr(ParamGroup& group, std::size_t) {
  if (last_epoch() == 0) return *group.lr * options_.factor;
  if (last_epoch() != options_.total_iters) return *group.lr;
  if (options_.factor == 0) {
    halfgrad::detail::fail<std::runtime_error>(
        "ConstantLR", "expected a factor above 0 in epoch {}, which divides it out, got 0",
        last_epoch());
  }
  return *group.lr * (1 / options_.factor);
}

void ConstantLR::take_over() {
  if (options_.total_iters <= 0) options_.factor = 1;
  LRScheduler::take_over();
}

LambdaLR::LambdaLR(Optimizer& optimizer, const Function& lr_lambda)
    : LambdaLR(optimizer, std::vector(optimizer.param_groups().size(), lr_lambda)) {}

LambdaLR::LambdaLR(Optimizer& optimizer, std::vector<Function> lr_lambdas)
    : LRScheduler(optimizer), lr_lambdas_(std::move(lr_lambdas)) {
  check_groups();
  set_rates();
}

void LambdaLR::check_groups() const {
  check_count("LambdaLR", "functions", optimizer().param_groups().size(), lr_lambdas_.size());
}

double LambdaLR::next_lr(ParamGroup&, std::size_t index) {
  return base_lr(index) * lr_lambdas_[index](last_epoch());
}

}  // namespace halfgrad::optim
