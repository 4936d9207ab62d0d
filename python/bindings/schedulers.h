#pragma once

#include <vector>

#include <halfgrad/optim/lr_scheduler.h>
#include <halfgrad/python/bindings/bindings.h>

/// Declarations that both files of schedules share.
namespace halfgrad::python {

/// The scheduler keeps its optimizer alive.
using KeepsOptimizer = nb::keep_alive<1, 2>;

/// PyTorch's argument last_epoch. A schedule is resumed by load_state_dict().
inline auto last_epoch_option() { return nb::arg("last_epoch") = -1; }
/// Throws std::invalid_argument unless it is -1.
void expect_start(std::int64_t last_epoch);

using RateFunction = nb::typed<nb::callable, double(std::int64_t)>;
optim::LambdaLR::Function calling(const RateFunction& function);
std::vector<optim::LambdaLR::Function> calling(const std::vector<RateFunction>& functions);

nb::dict dict_of(const optim::LRSchedulerState& state);
optim::LRSchedulerState schedule_state_of(const nb::dict& dict);

void bind_torch_schedulers(nb::module_& schedules);
void bind_cyclic_schedulers(nb::module_& schedules);

}  // namespace halfgrad::python
