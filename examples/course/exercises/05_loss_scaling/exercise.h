#pragma once

#include <vector>

#include <halfgrad/halfgrad.h>

/// One training step with a loss scale, without a GradScaler.
///
/// `loss` is not scaled. Afterwards the parameters are those of a step with the gradients of
/// `loss`, clipped to the 2-norm `max_norm`; or they are unchanged, and so is the optimizer, if a
/// gradient of the scaled loss was inf or NaN. Returns true if the step was made.
bool scaled_step(const halfgrad::Tensor& loss, halfgrad::optim::Optimizer& optimizer,
                 const std::vector<halfgrad::Tensor>& parameters, double scale, double max_norm);
