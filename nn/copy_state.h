#pragma once

#include <halfgrad/nn/module.h>

namespace halfgrad::nn::detail {

/// Makes `to`, a module of the same structure, a copy of `from`: values, requires_grad and mode.
void copy_state(const Module& from, Module& to);

}  // namespace halfgrad::nn::detail
