#pragma once

#include <halfgrad/core/shape.h>

namespace halfgrad {

/// One dimension, or several: `x.sum(0)`, `x.sum({0, 1})`.
using Dims = Shape;

}  // namespace halfgrad
