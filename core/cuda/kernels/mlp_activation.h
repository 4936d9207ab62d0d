#pragma once

#include <cstdint>

#include <halfgrad/core/cuda/kernels/mlp.h>
#include <halfgrad/core/cuda/kernels/mlp_fragments.h>
#include <halfgrad/core/math/gelu.h>

/// The activation f between the layers of an MLP, for pairs of elements in a register:
///
///     h = f(z),   dz = dh f'(z)
///
/// z, h, dh and dz are rounded, as they are between ops of their own.
namespace halfgrad::detail {

/// relu. Its derivative follows from h: a bit for each element (bits_of_relu).
struct MlpRelu {
  static constexpr bool kNeedsArgument = false;  ///< backward does not need z

  template <class T>
  static __device__ std::uint32_t value(MlpActivation, std::uint32_t z) {
    return PairOf<T>::relu(z);
  }
};

/// gelu, exact or by its tanh approximation.
struct MlpGelu {
  static constexpr bool kNeedsArgument = true;

  template <class T>
  static __device__ std::uint32_t value(MlpActivation activation, std::uint32_t z) {
    const float2 x = PairOf<T>::widen(z);
    return of_formula(activation, [&](const auto gelu) {
      return PairOf<T>::narrow(gelu.value(x.x), gelu.value(x.y));
    });
  }
  template <class T>
  static __device__ std::uint32_t gradient(MlpActivation activation, std::uint32_t dh,
                                           std::uint32_t z) {
    const float2 x = PairOf<T>::widen(z), dy = PairOf<T>::widen(dh);
    return of_formula(activation, [&](const auto gelu) {
      return PairOf<T>::narrow(dy.x * gelu.slope(x.x), dy.y * gelu.slope(x.y));
    });
  }

 private:
  template <class F>
  static __device__ std::uint32_t of_formula(MlpActivation activation, const F& f) {
    return activation == MlpActivation::gelu ? f(math::ExactGelu()) : f(math::TanhGelu());
  }
};

}  // namespace halfgrad::detail
