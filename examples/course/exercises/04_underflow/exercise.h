#pragma once

#include <vector>

/// Numbers of gradients by what fp16 makes of them.
struct Counts {
  int zero = 0;       ///< 0 before any rounding
  int lost = 0;       ///< not 0, but 0 in fp16
  int subnormal = 0;  ///< below fp16's smallest normal value, 2^-14, after rounding
  int normal = 0;
  int overflow = 0;  ///< inf or NaN in fp16
};

/// Counts the gradients, each multiplied by `scale` and then rounded to the nearest fp16 value.
/// A gradient halfway between two fp16 values goes to the one whose last bit is 0.
Counts count(const std::vector<float>& gradients, double scale);
