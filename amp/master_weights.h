#pragma once

#include <cstdint>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::amp {

/// Float32 masters of 16-bit weights. A model with 16-bit weights alone loses every update below
/// half the spacing of its weights (Micikevicius et al. 2018, section 3.1). With masters
///
///   model.to(kHalf);
///   optim::AdamW optimizer(model.parameters());
///   amp::MasterWeights masters(optimizer);
///
/// the optimizer updates a float32 copy of each float16 and bfloat16 parameter and rounds it, to
/// nearest even, into the parameter in the same pass. Their moments are float32 as well, so masters
/// and moments equal, bit for bit, those of an optimizer of float32 parameters with the same
/// gradients.
///
/// The optimizer's state holds "master" and "overflows", so they are part of its state_dict().
/// Parameters added to the optimizer later have no masters.
///
/// A GradScaler accepts float16 gradients only with masters. Its step() without unscale_() unscales
/// them in float32, where nothing is lost, unless parameters share the memory of a gradient.
/// unscale_(), which clipping needs, rounds unscaled gradients to float16: magnitudes up to 2^-25
/// become 0.
class MasterWeights {
 public:
  /// Throws std::invalid_argument for an optimizer that has no 16-bit parameter, has masters, or
  /// has made an update, so that its moments are in 16 bits. The optimizer must outlive this
  /// object.
  explicit MasterWeights(optim::Optimizer& optimizer);

  /// The master of a 16-bit parameter: float32, the optimizer's own memory. Throws
  /// std::invalid_argument for any other tensor.
  const Array& master(const Tensor& param) const;

  /// Copies the parameters into the masters; call it after other values were written to them.
  void copy_from_parameters();

  /// Number of times that a finite master became an infinite weight. Waits for the device.
  std::int64_t overflows() const;

 private:
  optim::Optimizer& optimizer_;
};

}  // namespace halfgrad::amp
