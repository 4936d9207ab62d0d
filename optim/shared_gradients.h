#pragma once

#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Unscales all gradients first if parameters share the memory of one, so that no update changes a
/// gradient that another update still reads. A gradient that n parameters share is multiplied by
/// `control.inv_scale` n times, as PyTorch does; all are rounded to their dtype. Returns the
/// control for the updates: without inv_scale if gradients were unscaled, else unchanged.
optim::StepControl unscale_shared_gradients(const std::vector<Tensor>& params,
                                            const optim::StepControl& control);

}  // namespace halfgrad::detail
