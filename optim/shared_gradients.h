#pragma once

#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Where parameters share the memory of a gradient: all gradients are multiplied by
/// `control.inv_scale`, this one as often as it is held, as by torch's GradScaler.unscale_(),
/// before any of the parameters is updated with it. All are rounded to their dtype then. What is
/// left of `control` is for the updates.
optim::StepControl unscale_shared_gradients(const std::vector<Tensor>& params,
                                            const optim::StepControl& control);

}  // namespace halfgrad::detail
