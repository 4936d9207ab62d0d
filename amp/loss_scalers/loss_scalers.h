#pragma once

#include <span>
#include <string_view>

#include <halfgrad/amp/grad_scaler_options.h>

namespace halfgrad::amp {

/// A dynamic loss scaler of another project, by its source of 2026.
struct LossScaler {
  std::string_view name;    ///< "DeepSpeed"
  std::string_view source;  ///< the class or file, and details that the options cannot express
  GradScalerOptions options;
};

/// All known loss scalers, PyTorch's first. GradScaler(loss_scaler("Keras").options) behaves as
/// Keras's does.
std::span<const LossScaler> loss_scalers();

/// The loss scaler of that name. Throws std::invalid_argument for an unknown name.
const LossScaler& loss_scaler(std::string_view name);

}  // namespace halfgrad::amp
