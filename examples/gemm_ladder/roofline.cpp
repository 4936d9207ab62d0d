#include "roofline.h"

namespace ladder {

// Arithmetic throughput per compute capability: CUDA C++ Programming Guide for f32. For the tensor
// cores, NVIDIA's data sheets: peak FLOP/s / (2 x multiprocessors x boost clock).
Rates rates_of(int major, int minor) {
  if (major == 8 && minor == 0) return {64, 1024};
  if (major == 8) return {128, 512};
  if (major == 9) return {128, 2048};
  if (major == 10) return {128, 4096};
  if (major == 12) return {128, 512};
  return {};
}

Roofline::Roofline(const halfgrad::cuda::DeviceProperties& device, std::int64_t n)
    : device_(device), rates_(rates_of(device.major, device.minor)) {
  // 2 n^3 FLOP for n^2 elements each of A and B (2 bytes) and C (4 bytes), moved once.
  memory_ = {device.memory_bandwidth * static_cast<double>(n) / 4, "memory"};
}

Bound Roofline::at(double multiply_adds, const char* reason) const {
  if (multiply_adds == 0) return {};
  const double flops = 2 * multiply_adds * device_.multi_processor_count * device_.clock_rate;
  return flops < memory_.flops ? Bound{flops, reason} : memory_;
}

Bound Roofline::naive() const {
  if (rates_.f32 == 0) return {};
  return at(kLoads / 2.0, "loads: 2 for a multiply-add");
}

Bound Roofline::tiled() const {
  constexpr double kMultiplyAddsPerLoad = 64.0 / 16;  // 8 x 8 a thread
  const double loads = kMultiplyAddsPerLoad * kLoads;
  return loads < rates_.f32 ? at(loads, "loads from shared memory")
                            : at(rates_.f32, "f32 arithmetic");
}

Bound Roofline::tensor_core() const {
  constexpr double kFragments = 4 + 2, kOperations = 4 * 2;  // a warp's, with WMMA
  constexpr double kPerByte = kOperations * 16 * 16 * 16 / (kFragments * 16 * 16 * 2);
  const double shared = kPerByte * 4 * kLoads;
  return shared < rates_.tensor_core ? at(shared, "bytes from shared memory")
                                     : at(rates_.tensor_core, "tensor cores");
}

Bound Roofline::cublaslt() const { return at(rates_.tensor_core, "tensor cores"); }

}  // namespace ladder
