#pragma once

#include <span>
#include <string_view>

#include <halfgrad/amp/grad_scaler_options.h>

namespace halfgrad::amp {

/// A dynamic loss scaler of the field, as its source read in 2026.
struct LossScaler {
  std::string_view name;    ///< "DeepSpeed"
  std::string_view source;  ///< the class or file, and what the options cannot say
  GradScalerOptions options;
};

/// All of them, PyTorch's first. GradScaler(loss_scaler("Keras").options) behaves as Keras would.
std::span<const LossScaler> loss_scalers();

/// Throws std::invalid_argument for a name that is not among them.
const LossScaler& loss_scaler(std::string_view name);

}  // namespace halfgrad::amp
