#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>

#include <halfgrad/core/fail.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/python/bindings/schedulers.h>

/// CyclicLR and ChainedScheduler, which the C++ library does not have.
namespace halfgrad::python {
namespace {

using halfgrad::detail::check_option;
using optim::LRScheduler;
using optim::LRSchedulerState;
using optim::Optimizer;
using optim::ParamGroup;

using Rates = std::variant<double, std::vector<double>>;

std::vector<double> one_for_each_group(const char* what, const Rates& given,
                                       const Optimizer& optimizer) {
  const std::size_t groups = optimizer.param_groups().size();
  if (const auto* const one = std::get_if<double>(&given)) return std::vector(groups, *one);
  const auto& several = std::get<1>(given);
  if (several.size() != groups) {
    detail::fail("CyclicLR", "expected one {} or one for each of the {} groups, got {}", what,
                 groups, several.size());
  }
  return several;
}

struct CyclicOptions {
  std::vector<double> base_lrs, max_lrs;
  double step_size_up, step_size_down;
  optim::LambdaLR::Function scale;
  bool scales_iterations;  // else cycles
  bool cycle_momentum;
  std::vector<double> base_momentums, max_momentums;
};

/// Triangular cycles between base_lr and max_lr (Smith 2017). With the height h of the triangle,
/// which rises from 0 to 1 in step_size_up steps and falls in step_size_down,
///
///     lr       = base_lr      + (max_lr - base_lr)            * h * scale
///     momentum = max_momentum - (max_momentum - base_momentum) * h * scale
class CyclicLR final : public LRScheduler {
 public:
  CyclicLR(Optimizer& optimizer, CyclicOptions options)
      : LRScheduler(starting_at(optimizer, options)), options_(std::move(options)) {
    set_rates();
    is_first_ = false;
  }

 private:
  // The rates from which the base class takes the groups' initial_lr.
  static Optimizer& starting_at(Optimizer& optimizer, const CyclicOptions& options) {
    std::vector<ParamGroup>& groups = optimizer.param_groups();
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i].set_lr(options.base_lrs[i]);
    return optimizer;
  }

  double next_lr(ParamGroup& group, std::size_t index) override {
    const auto step = static_cast<double>(last_epoch());
    const double length = options_.step_size_up + options_.step_size_down;
    const double top = options_.step_size_up / length;
    const double cycle = std::floor(1 + step / length);
    const double x = 1 + step / length - cycle;
    const double height = x <= top ? x / top : (x - 1) / (top - 1);
    const double scaled =
        height * options_.scale(options_.scales_iterations ? last_epoch()
                                                           : static_cast<std::int64_t>(cycle));
    if (options_.cycle_momentum) {
      const double most = options_.max_momentums[index];
      const double momentum = most - (most - options_.base_momentums[index]) * scaled;
      if (group.betas.has_value()) {
        group.betas->first = momentum;
      } else {
        group.momentum = momentum;
      }
    }
    // As in PyTorch, the cycles begin from initial_lr, which an earlier schedule may have set.
    const double base = is_first_ ? base_lr(index) : options_.base_lrs[index];
    return base + (options_.max_lrs[index] - base) * scaled;
  }

  void check_groups() const override {
    const std::size_t groups = optimizer().param_groups().size();
    if (options_.base_lrs.empty() || options_.base_lrs.size() == groups) return;
    detail::fail("CyclicLR", "expected the {} groups of the start, got {}",
                 options_.base_lrs.size(), groups);
  }

  CyclicOptions options_;
  bool is_first_ = true;
};

void check_momentum(Optimizer& optimizer) {
  for (const ParamGroup& group : optimizer.param_groups()) {
    if (group.momentum.has_value() || group.betas.has_value()) continue;
    detail::fail("CyclicLR",
                 "expected an optimizer with momentum or betas to cycle, got {}; pass "
                 "cycle_momentum=False",
                 optimizer.name());
  }
}

optim::LambdaLR::Function scale_of(const std::string& mode, double gamma) {
  if (mode == "triangular") return [](std::int64_t) { return 1.0; };
  if (mode == "triangular2") {
    return [](std::int64_t cycle) { return std::ldexp(1.0, static_cast<int>(1 - cycle)); };
  }
  if (mode == "exp_range") {
    return [gamma](std::int64_t step) { return std::pow(gamma, static_cast<double>(step)); };
  }
  detail::fail("CyclicLR",
               "expected mode \"triangular\", \"triangular2\" or \"exp_range\", or a scale_fn, got "
               "\"{}\"",
               mode);
}

void bind_cyclic(nb::module_& schedules) {
  nb::class_<CyclicLR, LRScheduler>(
      schedules, "CyclicLR",
      "Triangular cycles between base_lr and max_lr (Smith 2017), up in step_size_up steps and\n"
      "down in as many or step_size_down. Their height is the same, halves in every cycle\n"
      "(\"triangular2\"), is gamma^step (\"exp_range\"), or is scale_fn of the cycle, from 1 on, "
      "or of\nthe step.")
      .def(
          "__init__",
          [](CyclicLR* self, Optimizer& optimizer, const Rates& base_lr, const Rates& max_lr,
             std::int64_t up, std::optional<std::int64_t> down, const std::string& mode,
             double gamma, const std::optional<RateFunction>& scale_fn,
             const std::string& scale_mode, bool cycle_momentum, const Rates& base_momentum,
             const Rates& max_momentum, std::int64_t last_epoch) {
            expect_start(last_epoch);
            check_option(up > 0, "CyclicLR", "step_size_up > 0", static_cast<double>(up));
            check_option(!down || *down >= 0, "CyclicLR", "step_size_down >= 0",
                         static_cast<double>(down.value_or(0)));
            if (cycle_momentum) check_momentum(optimizer);
            new (self) CyclicLR(
                optimizer,
                {.base_lrs = one_for_each_group("base_lr", base_lr, optimizer),
                 .max_lrs = one_for_each_group("max_lr", max_lr, optimizer),
                 .step_size_up = static_cast<double>(up),
                 .step_size_down = static_cast<double>(down.value_or(up)),
                 .scale = scale_fn ? calling(*scale_fn) : scale_of(mode, gamma),
                 .scales_iterations = scale_fn ? scale_mode != "cycle" : mode == "exp_range",
                 .cycle_momentum = cycle_momentum,
                 .base_momentums = one_for_each_group("base_momentum", base_momentum, optimizer),
                 .max_momentums = one_for_each_group("max_momentum", max_momentum, optimizer)});
          },
          "optimizer"_a, "base_lr"_a, "max_lr"_a, "step_size_up"_a = 2000,
          "step_size_down"_a = nb::none(), "mode"_a = "triangular", "gamma"_a = 1.0,
          "scale_fn"_a = nb::none(), "scale_mode"_a = "cycle", "cycle_momentum"_a = true,
          "base_momentum"_a = 0.8, "max_momentum"_a = 0.9, last_epoch_option(), KeepsOptimizer());
}

using Parts = std::vector<std::shared_ptr<LRScheduler>>;

Optimizer& optimizer_of(const Parts& parts, Optimizer* given) {
  if (parts.empty()) detail::fail("ChainedScheduler", "expected one scheduler or more, got none");
  Optimizer& optimizer = given != nullptr ? *given : parts[0]->optimizer();
  for (const auto& part : parts) {
    if (&part->optimizer() == &optimizer) continue;
    detail::fail("ChainedScheduler", "expected schedulers of one optimizer, got one of another");
  }
  return optimizer;
}

/// Schedulers that all step at once, one after the other.
class ChainedScheduler final : public LRScheduler {
 public:
  ChainedScheduler(const Parts& parts, Optimizer* optimizer)
      : LRScheduler(optimizer_of(parts, optimizer)), parts_(parts) {
    set_rates();
  }

  void count_skipped_steps_in_parts(bool count) {
    count_skipped_steps(count);
    for (const auto& part : parts_) part->count_skipped_steps(count);
  }

  LRSchedulerState state_dict() const override {
    LRSchedulerState state = LRScheduler::state_dict();
    for (const auto& part : parts_) state.schedulers.push_back(part->state_dict());
    return state;
  }

  void load_state_dict(const LRSchedulerState& state) override {
    if (state.schedulers.size() != parts_.size()) {
      detail::fail("ChainedScheduler", "expected a state of {} schedulers, got {}", parts_.size(),
                   state.schedulers.size());
    }
    LRScheduler::load_state_dict(state);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      parts_[i]->load_state_dict(state.schedulers[i]);
    }
  }

 private:
  void advance() override {
    for (const auto& part : parts_) part->step();
    LRScheduler::advance();  // notes the rates that they have set
  }

  Parts parts_;
};

void bind_chained(nb::module_& schedules) {
  nb::class_<ChainedScheduler, LRScheduler>(
      schedules, "ChainedScheduler",
      "Several schedulers of one optimizer: step() calls step() of each, in order.")
      .def(
          "__init__",
          [](ChainedScheduler* self, const Parts& schedulers, Optimizer* optimizer) {
            new (self) ChainedScheduler(schedulers, optimizer);
          },
          "schedulers"_a, "optimizer"_a.none() = nb::none(), nb::keep_alive<1, 3>())
      .def("count_skipped_steps", &ChainedScheduler::count_skipped_steps_in_parts,
           "count"_a = true);
}

}  // namespace

void bind_cyclic_schedulers(nb::module_& schedules) {
  bind_cyclic(schedules);
  bind_chained(schedules);
}

}  // namespace halfgrad::python
