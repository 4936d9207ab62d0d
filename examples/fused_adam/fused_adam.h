#pragma once

#include <cmath>
#include <cstdint>

#include <halfgrad/core/device.h>
#include <halfgrad/core/hd.h>

/// Adam as one plain kernel: algorithm 1 of Kingma and Ba, "Adam: A Method for Stochastic
/// Optimization" (ICLR 2015), with the unscaling and the skip of a GradScaler fused in.
///
///     m = beta1 m + (1 - beta1) g                     first moment
///     v = beta2 v + (1 - beta2) g^2                   second moment
///     m_hat = m / bias_correction1                    bias_correction1 = 1 - beta1^t
///     v_hat = v / bias_correction2                    bias_correction2 = 1 - beta2^t
///     p = p - lr m_hat / (sqrt(v_hat) + eps)
///
/// Every pointer is memory of the device that runs the kernel, so the host never waits for t,
/// inv_scale or found_inf.
struct FusedAdam {
  double lr, beta1, beta2, eps;
  std::int64_t n;
  float *p, *g, *m, *v;  // n elements each: parameter, gradient, moments
  float* t;              // steps made so far; skipped ones do not count
  double *bias_correction1, *bias_correction2;
  const float *inv_scale, *found_inf;

  /// Runs first, once a step. In double: 1 - 0.999 in float has lost 10 of its 24 bits.
  HG_HD void begin_step() const {
    if (*found_inf != 0) return;
    *t += 1;
    *bias_correction1 = 1 - std::pow(beta1, static_cast<double>(*t));
    *bias_correction2 = 1 - std::pow(beta2, static_cast<double>(*t));
  }

  /// Runs for each element i. The skip: p, g, m and v keep their bits if a gradient was infinite
  /// or NaN.
  HG_HD void update(std::int64_t i) const {
    if (*found_inf != 0) return;
    g[i] *= *inv_scale;
    m[i] = float(beta1) * m[i] + float(1 - beta1) * g[i];
    v[i] = float(beta2) * v[i] + float(1 - beta2) * g[i] * g[i];
    const float m_hat = m[i] / float(*bias_correction1);
    const float v_hat = v[i] / float(*bias_correction2);
    p[i] -= float(lr) * m_hat / (std::sqrt(v_hat) + float(eps));
  }
};

/// One step on `device`: two launches on a GPU, two loops on the CPU.
void step(const FusedAdam& adam, halfgrad::Device device);

inline void step_on_cpu(const FusedAdam& adam) {
  adam.begin_step();
  for (std::int64_t i = 0; i < adam.n; ++i) adam.update(i);
}
