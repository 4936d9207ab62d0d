#pragma once

#include <string>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::detail {

/// Checks those of the options lr, betas, eps, weight_decay and momentum that the group has. Throws
/// std::invalid_argument, naming `optimizer`, for a beta outside [0, 1), or any other that is
/// negative or NaN.
void check_usual_options(const std::string& optimizer, const optim::ParamGroup& group);

}  // namespace halfgrad::detail
