#include <algorithm>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/lr_scheduler.h>

namespace halfgrad::optim {

SequentialLR::SequentialLR(Optimizer& optimizer,
                           std::vector<std::shared_ptr<LRScheduler>> schedulers,
                           SequentialLROptions options)
    : LRScheduler(optimizer), schedulers_(std::move(schedulers)), options_(std::move(options)) {
  const auto& milestones = options_.milestones;
  if (schedulers_.size() != milestones.size() + 1) {
    halfgrad::detail::fail("SequentialLR",
                           "expected one scheduler more than milestones, got {} schedulers and {} "
                           "milestones",
                           schedulers_.size(), milestones.size());
  }
  if (std::adjacent_find(milestones.begin(), milestones.end(), std::greater_equal()) !=
      milestones.end()) {
    halfgrad::detail::fail("SequentialLR", "expected increasing milestones, got others");
  }
  for (const auto& scheduler : schedulers_) {
    if (&scheduler->optimizer() != &optimizer) {
      halfgrad::detail::fail("SequentialLR",
                             "expected schedulers of its own optimizer, got one of another");
    }
    scheduler->take_in_groups();
  }
  LRScheduler& first = *schedulers_[active()];
  if (active() > 0) {
    first.take_over();
  } else {
    first.restart(base_lrs_);
  }
  last_lr_ = first.get_last_lr();
}

void SequentialLR::check_groups() const {
  for (const auto& scheduler : schedulers_) scheduler->check_groups();
}

// Index of the scheduler of epoch last_epoch(); each takes over in its milestone.
std::size_t SequentialLR::active() const {
  const auto& milestones = options_.milestones;
  const auto next = std::upper_bound(milestones.begin(), milestones.end(), last_epoch());
  return static_cast<std::size_t>(next - milestones.begin());
}

void SequentialLR::advance() {
  take_in_groups();
  for (const auto& scheduler : schedulers_) scheduler->take_in_groups();
  ++last_epoch_;
  const std::size_t index = active();
  LRScheduler& scheduler = *schedulers_[index];
  if (index > 0 && options_.milestones[index - 1] == last_epoch_) {
    scheduler.take_over();
  } else {
    scheduler.advance();
  }
  last_lr_ = scheduler.get_last_lr();
}

LRSchedulerState SequentialLR::state_dict() const {
  LRSchedulerState state = LRScheduler::state_dict();
  for (const auto& scheduler : schedulers_) state.schedulers.push_back(scheduler->state_dict());
  return state;
}

void SequentialLR::load_state_dict(const LRSchedulerState& state) {
  if (state.schedulers.size() != schedulers_.size()) {
    halfgrad::detail::fail("SequentialLR", "expected a state of {} schedulers, got {}",
                           schedulers_.size(), state.schedulers.size());
  }
  LRScheduler::load_state_dict(state);
  for (std::size_t i = 0; i < schedulers_.size(); ++i) {
    schedulers_[i]->load_state_dict(state.schedulers[i]);
  }
}

double SequentialLR::next_lr(ParamGroup& group, std::size_t) { return *group.lr; }

}  // namespace halfgrad::optim
