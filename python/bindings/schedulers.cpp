#include <halfgrad/optim/optim.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/variant.h>

#include <halfgrad/core/fail.h>

#include <halfgrad/python/bindings/schedulers.h>

/// Learning-rate schedules.
namespace halfgrad::python {
namespace {

using optim::LRScheduler;
using optim::LRSchedulerState;
using optim::Optimizer;

constexpr const char* kLoad = "load_state_dict";

}  // namespace

nb::dict dict_of(const LRSchedulerState& state) {
  nb::dict dict;
  dict["last_epoch"] = state.last_epoch;
  dict["base_lrs"] = nb::cast(state.base_lrs);
  dict["last_lr"] = nb::cast(state.last_lr);
  dict["pending_steps"] = state.pending_steps;
  dict["pending_skipped"] = state.pending_skipped;
  nb::list parts;
  for (const LRSchedulerState& part : state.schedulers) parts.append(dict_of(part));
  dict["schedulers"] = parts;
  dict["fraction"] = state.fraction;
  return dict;
}

LRSchedulerState schedule_state_of(const nb::dict& dict) {
  LRSchedulerState state;
  state.last_epoch = read<std::int64_t>(dict["last_epoch"], kLoad, quoted("last_epoch"));
  state.base_lrs = read<std::vector<double>>(dict["base_lrs"], kLoad, quoted("base_lrs"));
  state.last_lr = read<std::vector<double>>(dict["last_lr"], kLoad, quoted("last_lr"));
  state.pending_steps = read<std::int64_t>(dict["pending_steps"], kLoad, quoted("pending_steps"));
  state.pending_skipped =
      read<std::int64_t>(dict["pending_skipped"], kLoad, quoted("pending_skipped"));
  for (const nb::handle part : read<nb::list>(dict["schedulers"], kLoad, quoted("schedulers"))) {
    state.schedulers.push_back(
        schedule_state_of(read<nb::dict>(part, kLoad, "a scheduler's state")));
  }
  if (dict.contains("fraction")) {
    state.fraction = read<double>(dict["fraction"], kLoad, quoted("fraction"));
  }
  return state;
}

void expect_start(std::int64_t last_epoch) {
  if (last_epoch != -1) {
    detail::fail("lr_scheduler", "expected last_epoch=-1, got {}; resume with load_state_dict()",
                 last_epoch);
  }
}

optim::LambdaLR::Function calling(const RateFunction& function) {
  return function_calling<double, std::int64_t>(function);
}

std::vector<optim::LambdaLR::Function> calling(const std::vector<RateFunction>& functions) {
  std::vector<optim::LambdaLR::Function> result;
  for (const RateFunction& function : functions) result.push_back(calling(function));
  return result;
}

namespace {

void bind_base(nb::module_& schedules) {
  nb::class_<LRScheduler>(
      schedules, "LRScheduler",
      "Call step() after each epoch or optimizer step: it sets lr of every group.")
      .def("step", &LRScheduler::step, ReleaseGil(),
           "Begins the next epoch, unless a GradScaler skipped all optimizer steps since the last.")
      .def("get_last_lr", &LRScheduler::get_last_lr)
      .def_prop_ro("last_epoch", &LRScheduler::last_epoch)
      .def_prop_ro("base_lrs", [](const LRScheduler& self) { return self.state_dict().base_lrs; })
      .def("count_skipped_steps", &LRScheduler::count_skipped_steps, "count"_a = true,
           "Makes every call of step() count, as in PyTorch.")
      .def("state_dict", [](const LRScheduler& self) { return dict_of(self.state_dict()); })
      .def(
          "load_state_dict",
          [](LRScheduler& self, const nb::dict& state) {
            self.load_state_dict(schedule_state_of(state));
          },
          "state_dict"_a);
}

void bind_factors(nb::module_& schedules) {
  nb::class_<optim::StepLR, LRScheduler>(schedules, "StepLR", "lr *= gamma every step_size epochs.")
      .def(
          "__init__",
          [](optim::StepLR* self, Optimizer& optimizer, std::int64_t step_size, double gamma,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::StepLR(optimizer, {step_size, gamma});
          },
          "optimizer"_a, "step_size"_a, "gamma"_a = 0.1, last_epoch_option(), KeepsOptimizer());
  nb::class_<optim::MultiStepLR, LRScheduler>(schedules, "MultiStepLR",
                                              "lr *= gamma in each epoch of milestones.")
      .def(
          "__init__",
          [](optim::MultiStepLR* self, Optimizer& optimizer, std::vector<std::int64_t> milestones,
             double gamma, std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::MultiStepLR(optimizer, {std::move(milestones), gamma});
          },
          "optimizer"_a, "milestones"_a, "gamma"_a = 0.1, last_epoch_option(), KeepsOptimizer());
  nb::class_<optim::ExponentialLR, LRScheduler>(schedules, "ExponentialLR",
                                                "lr *= gamma in every epoch.")
      .def(
          "__init__",
          [](optim::ExponentialLR* self, Optimizer& optimizer, double gamma,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::ExponentialLR(optimizer, {gamma});
          },
          "optimizer"_a, "gamma"_a, last_epoch_option(), KeepsOptimizer());
}

void bind_ramps(nb::module_& schedules) {
  nb::class_<optim::CosineAnnealingLR, LRScheduler>(schedules, "CosineAnnealingLR",
                                                    "Cosine annealing without restarts.")
      .def(
          "__init__",
          [](optim::CosineAnnealingLR* self, Optimizer& optimizer, std::int64_t epochs,
             double eta_min, std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::CosineAnnealingLR(optimizer, {epochs, eta_min});
          },
          "optimizer"_a, "T_max"_a, "eta_min"_a = 0.0, last_epoch_option(), KeepsOptimizer());
  nb::class_<optim::LinearLR, LRScheduler>(schedules, "LinearLR",
                                           "base_lr times a factor that changes linearly.")
      .def(
          "__init__",
          [](optim::LinearLR* self, Optimizer& optimizer, double start, double end,
             std::int64_t total, std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::LinearLR(optimizer, {start, end, total});
          },
          "optimizer"_a, "start_factor"_a = 1.0 / 3, "end_factor"_a = 1.0, "total_iters"_a = 5,
          last_epoch_option(), KeepsOptimizer());
  nb::class_<optim::ConstantLR, LRScheduler>(schedules, "ConstantLR",
                                             "lr * factor for the first total_iters epochs.")
      .def(
          "__init__",
          [](optim::ConstantLR* self, Optimizer& optimizer, double factor, std::int64_t total,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::ConstantLR(optimizer, {factor, total});
          },
          "optimizer"_a, "factor"_a = 1.0 / 3, "total_iters"_a = 5, last_epoch_option(),
          KeepsOptimizer());
}

using OptionalInt = std::optional<std::int64_t>;

optim::AnnealStrategy strategy_of(const std::string& name) {
  if (name == "cos") return optim::AnnealStrategy::cos;
  if (name == "linear") return optim::AnnealStrategy::linear;
  detail::fail("OneCycleLR", "expected anneal_strategy \"cos\" or \"linear\", got \"{}\"", name);
}

void bind_compositions(nb::module_& schedules) {
  nb::class_<optim::LambdaLR, LRScheduler>(
      schedules, "LambdaLR", "lr = base_lr * lr_lambda(epoch) for all groups, or one for each.")
      .def(
          "__init__",
          [](optim::LambdaLR* self, Optimizer& optimizer, const RateFunction& lr_lambda,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::LambdaLR(optimizer, calling(lr_lambda));
          },
          "optimizer"_a, "lr_lambda"_a, last_epoch_option(), KeepsOptimizer())
      .def(
          "__init__",
          [](optim::LambdaLR* self, Optimizer& optimizer,
             const std::vector<RateFunction>& lr_lambda, std::int64_t last_epoch) {
            expect_start(last_epoch);
            new (self) optim::LambdaLR(optimizer, calling(lr_lambda));
          },
          "optimizer"_a, "lr_lambda"_a, last_epoch_option(), KeepsOptimizer());
  nb::class_<optim::SequentialLR, LRScheduler>(schedules, "SequentialLR",
                                               "One scheduler after another.")
      .def(
          "__init__",
          [](optim::SequentialLR* self, Optimizer& optimizer,
             std::vector<std::shared_ptr<LRScheduler>> schedulers,
             std::vector<std::int64_t> milestones) {
            new (self)
                optim::SequentialLR(optimizer, std::move(schedulers), {std::move(milestones)});
          },
          "optimizer"_a, "schedulers"_a, "milestones"_a, KeepsOptimizer());
  nb::class_<optim::OneCycleLR, LRScheduler>(schedules, "OneCycleLR",
                                             "The one-cycle policy (Smith and Topin 2018).")
      .def(
          "__init__",
          [](optim::OneCycleLR* self, Optimizer& optimizer,
             const std::variant<double, std::vector<double>>& max_lr, OptionalInt total_steps,
             OptionalInt epochs, OptionalInt steps_per_epoch, double pct_start,
             const std::string& anneal_strategy, bool cycle_momentum, double base_momentum,
             double max_momentum, double div_factor, double final_div_factor, bool three_phase,
             std::int64_t last_epoch) {
            expect_start(last_epoch);
            const auto* const one = std::get_if<double>(&max_lr);
            new (self) optim::OneCycleLR(
                optimizer, {.max_lr = one != nullptr ? std::vector{*one} : std::get<1>(max_lr),
                            .total_steps = total_steps,
                            .epochs = epochs,
                            .steps_per_epoch = steps_per_epoch,
                            .pct_start = pct_start,
                            .anneal_strategy = strategy_of(anneal_strategy),
                            .cycle_momentum = cycle_momentum,
                            .base_momentum = base_momentum,
                            .max_momentum = max_momentum,
                            .div_factor = div_factor,
                            .final_div_factor = final_div_factor,
                            .three_phase = three_phase});
          },
          "optimizer"_a, "max_lr"_a, "total_steps"_a = nb::none(), "epochs"_a = nb::none(),
          "steps_per_epoch"_a = nb::none(), "pct_start"_a = 0.3, "anneal_strategy"_a = "cos",
          "cycle_momentum"_a = true, "base_momentum"_a = 0.85, "max_momentum"_a = 0.95,
          "div_factor"_a = 25.0, "final_div_factor"_a = 1e4, "three_phase"_a = false,
          last_epoch_option(), KeepsOptimizer());
}

}  // namespace

void bind_schedulers(nb::module_& module) {
  nb::module_ optim = nb::borrow<nb::module_>(module.attr("optim"));
  nb::module_ schedules = optim.def_submodule("lr_scheduler", "Learning-rate schedules.");
  bind_base(schedules);
  bind_factors(schedules);
  bind_ramps(schedules);
  bind_compositions(schedules);
  bind_torch_schedulers(schedules);
  bind_cyclic_schedulers(schedules);
}

}  // namespace halfgrad::python
