#include <cmath>
#include <numbers>
#include <utility>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/python/bindings/schedulers.h>

/// Schedules of PyTorch that libtorch and the C++ library do not have.
namespace halfgrad::python {
namespace {

using halfgrad::detail::check_option;
using optim::LRScheduler;
using optim::LRSchedulerState;
using optim::Optimizer;
using optim::ParamGroup;

/// Multiplies lr by a ratio in each epoch, so that without other schedules
///
///     lr = base_lr * (1 - epoch / total_iters)^power
class PolynomialLR final : public LRScheduler {
 public:
  PolynomialLR(Optimizer& optimizer, std::int64_t total_iters, double power)
      : LRScheduler(optimizer), total_iters_(total_iters), power_(power) {
    set_rates();
  }

 private:
  double next_lr(ParamGroup& group, std::size_t) override {
    if (last_epoch() == 0 || last_epoch() > total_iters_) return *group.lr;
    return *group.lr * std::pow(remaining(last_epoch()) / remaining(last_epoch() - 1), power_);
  }
  double remaining(std::int64_t epoch) const {
    return 1 - static_cast<double>(epoch) / static_cast<double>(total_iters_);
  }

  std::int64_t total_iters_;
  double power_;
};

/// lr *= lr_lambda(epoch), with one function for each group.
class MultiplicativeLR final : public LRScheduler {
 public:
  using Function = optim::LambdaLR::Function;
  MultiplicativeLR(Optimizer& optimizer, std::vector<Function> lr_lambdas)
      : LRScheduler(optimizer), lr_lambdas_(std::move(lr_lambdas)) {
    check_groups();
    set_rates();
  }

 private:
  double next_lr(ParamGroup& group, std::size_t index) override {
    return last_epoch() == 0 ? *group.lr : *group.lr * lr_lambdas_[index](last_epoch());
  }

  // PyTorch multiplies the rate that the schedule before it has left.
  void take_over() override {
    std::vector<ParamGroup>& groups = optimizer().param_groups();
    for (std::size_t i = 0; i < groups.size(); ++i)
      groups[i].lr = *groups[i].lr * lr_lambdas_[i](0);
    LRSchedulerState state = state_dict();
    state.last_epoch = 0;
    load_state_dict(state);
    set_rates();
  }

  void check_groups() const override {
    const std::size_t groups = optimizer().param_groups().size();
    if (groups == lr_lambdas_.size()) return;
    detail::fail("MultiplicativeLR", "expected {} functions, got {}", groups, lr_lambdas_.size());
  }

  std::vector<Function> lr_lambdas_;
};

/// Cosine annealing with restarts (Loshchilov and Hutter 2017):
///
///     lr = eta_min + (base_lr - eta_min) * (1 + cos(pi * T_cur / T_i)) / 2
///
/// T_cur is the number of epochs since the last restart, and T_i the length of the present cycle.
class CosineAnnealingWarmRestarts final : public LRScheduler {
 public:
  CosineAnnealingWarmRestarts(Optimizer& optimizer, std::int64_t first_length,
                              std::int64_t multiplier, double eta_min)
      : LRScheduler(optimizer),
        first_length_(static_cast<double>(first_length)),
        multiplier_(static_cast<double>(multiplier)),
        eta_min_(eta_min) {
    check_option(first_length >= 1, "CosineAnnealingWarmRestarts", "T_0 >= 1", first_length_);
    check_option(multiplier >= 1, "CosineAnnealingWarmRestarts", "T_mult >= 1", multiplier_);
    set_rates();
  }

  /// Sets the rates of an epoch, which may be a fraction. A later step() adds 1 to it.
  void begin(double epoch) {
    constexpr double kMostEpochs = 0x1p53;  // above, doubles skip integers
    check_option(epoch >= 0 && epoch < kMostEpochs, "CosineAnnealingWarmRestarts",
                 "an epoch in [0, 2^53)", epoch);
    const double whole = std::floor(epoch);
    LRSchedulerState state = state_dict();
    state.last_epoch = static_cast<std::int64_t>(whole) - 1;
    state.pending_steps = state.pending_skipped = 0;
    load_state_dict(state);
    fraction_ = epoch - whole;
    advance();
  }

  struct Position {
    double epochs, length;  // T_cur and T_i
  };
  Position position() const {
    Position at{static_cast<double>(last_epoch()) + fraction_, first_length_};
    if (multiplier_ == 1) return {std::fmod(at.epochs, at.length), at.length};
    while (at.epochs >= at.length) at = {at.epochs - at.length, at.length * multiplier_};
    return at;
  }

  LRSchedulerState state_dict() const override {
    LRSchedulerState state = LRScheduler::state_dict();
    state.fraction = fraction_;
    return state;
  }
  void load_state_dict(const LRSchedulerState& state) override {
    LRScheduler::load_state_dict(state);
    fraction_ = state.fraction;
  }

 private:
  double next_lr(ParamGroup&, std::size_t index) override {
    const auto [epochs, length] = position();
    const double height = 1 + std::cos(std::numbers::pi * epochs / length);
    return eta_min_ + (base_lr(index) - eta_min_) * height / 2;
  }

  void take_over() override {
    fraction_ = 0;
    LRScheduler::take_over();
  }

  double first_length_, multiplier_, eta_min_;
  double fraction_ = 0;  // the present epoch is last_epoch() + fraction_
};

void bind_polynomial(nb::module_& schedules) {
  nb::class_<PolynomialLR, LRScheduler>(
      schedules, "PolynomialLR",
      "lr = base_lr * (1 - epoch / total_iters)^power, 0 from epoch total_iters on. Each lr is\n"
      "computed from the previous one, so that other schedules may act on the same optimizer.")
      .def(
          "__init__",
          [](PolynomialLR* self, Optimizer& optimizer, std::int64_t total_iters, double power,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) PolynomialLR(optimizer, total_iters, power);
          },
          "optimizer"_a, "total_iters"_a = 5, "power"_a = 1.0, last_epoch_option(),
          KeepsOptimizer());
}

void bind_multiplicative(nb::module_& schedules) {
  nb::class_<MultiplicativeLR, LRScheduler>(
      schedules, "MultiplicativeLR",
      "lr *= lr_lambda(epoch) in every epoch from 1 on, for all groups or one for each.")
      .def(
          "__init__",
          [](MultiplicativeLR* self, Optimizer& optimizer, const RateFunction& lr_lambda,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            const std::vector functions(optimizer.param_groups().size(), calling(lr_lambda));
            new (self) MultiplicativeLR(optimizer, functions);
          },
          "optimizer"_a, "lr_lambda"_a, last_epoch_option(), KeepsOptimizer())
      .def(
          "__init__",
          [](MultiplicativeLR* self, Optimizer& optimizer,
             const std::vector<RateFunction>& lr_lambda, std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) MultiplicativeLR(optimizer, calling(lr_lambda));
          },
          "optimizer"_a, "lr_lambda"_a, last_epoch_option(), KeepsOptimizer());
}

void bind_warm_restarts(nb::module_& schedules) {
  using Restarts = CosineAnnealingWarmRestarts;
  nb::class_<Restarts, LRScheduler>(schedules, "CosineAnnealingWarmRestarts",
                                    "Cosine annealing from base_lr to eta_min in T_0 epochs, which "
                                    "restarts and then takes T_mult\n"
                                    "times as many epochs (Loshchilov and Hutter 2017).")
      .def(
          "__init__",
          [](Restarts* self, Optimizer& optimizer, std::int64_t first_length,
             std::int64_t multiplier, double eta_min, std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) Restarts(optimizer, first_length, multiplier, eta_min);
          },
          "optimizer"_a, "T_0"_a, "T_mult"_a = 1, "eta_min"_a = 0.0, last_epoch_option(),
          KeepsOptimizer())
      .def(
          "step",
          [](Restarts& self, std::optional<double> epoch) {
            if (epoch) {
              self.begin(*epoch);
            } else {
              self.step();
            }
          },
          "epoch"_a = nb::none(), ReleaseGil(),
          "Begins the next epoch, or this one: step(epoch + i / batches) in batch i.")
      .def("state_dict", [](const Restarts& self) {
        nb::dict dict = dict_of(self.state_dict());
        dict["T_cur"] = self.position().epochs;
        dict["T_i"] = self.position().length;
        return dict;
      });
}

}  // namespace

void bind_torch_schedulers(nb::module_& schedules) {
  bind_polynomial(schedules);
  bind_multiplicative(schedules);
  bind_warm_restarts(schedules);
}

}  // namespace halfgrad::python
