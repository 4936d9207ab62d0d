#pragma once

#include <vector>

#include <halfgrad/core/numbers/scalar.h>

/// One step of SGD for fp16 weights with float32 masters:
///
///   gradient = scaled gradient * inv_scale            in float
///   master   = master - lr * gradient                 in float
///   weight   = master rounded to fp16
///
/// All vectors have the same size. `scaled` holds gradients that are multiplied by the loss scale;
/// they are finite, and stay as they are. Nothing else may be remembered between two calls.
void sgd_step(std::vector<float>& master, std::vector<halfgrad::Half>& weight,
              const std::vector<halfgrad::Half>& scaled, float inv_scale, float lr);
