#pragma once

#include <cstdint>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad::amp {

/// Float32 masters of 16-bit weights. A model that is 16 bit throughout loses every update below
/// half the spacing of its weights (Micikevicius et al. 2018, section 3.1); with masters
///
///   model.to(kHalf);
///   optim::AdamW optimizer(model.parameters());
///   amp::MasterWeights masters(optimizer);
///
/// the optimizer updates a float32 copy of each float16 and bfloat16 parameter and rounds it, to
/// nearest even, into the parameter in the same pass. Its moments of them are float32 as well, so
/// masters and moments are bit for bit what an optimizer of float32 parameters would compute from
/// the same gradients.
///
/// Everything is kept in the optimizer's state, as "master" and "overflows", and travels with its
/// state_dict(). Parameters added to the optimizer later have no masters.
///
/// With a GradScaler float16 gradients are legal, and without masters they are not. step() alone
/// unscales them in float32, where nothing is lost, unless parameters share the memory of a
/// gradient. unscale_(), which clipping needs, rounds what it unscales to float16: magnitudes up to
/// 2^-25 become 0 there.
class MasterWeights {
 public:
  /// Throws std::invalid_argument for an optimizer that has no 16-bit parameter, that has updated
  /// one already, so that its moments are in 16 bits, or that has masters. It must outlive this.
  explicit MasterWeights(optim::Optimizer& optimizer);

  /// The master of a 16-bit parameter: float32, the optimizer's own memory. Throws
  /// std::invalid_argument for any other tensor.
  const Array& master(const Tensor& param) const;

  /// Makes the masters anew from the parameters, after those were given other values.
  void copy_from_parameters();

  /// How often a finite master became an infinite weight. Waits for the device.
  std::int64_t overflows() const;

 private:
  optim::Optimizer& optimizer_;
};

}  // namespace halfgrad::amp
