#pragma once

#include <cstdint>

#include <halfgrad/core/device_properties.h>

/// Upper bounds for the speed of a kernel, from the figures of its GPU.
namespace ladder {

struct Bound {
  double flops = 0;         ///< per second; 0 if it is unknown
  const char* reason = "";  ///< the resource of the machine that is used up
};

/// Loads of 4 bytes or less that one multiprocessor starts per clock, from L1 cache or shared
/// memory.
inline constexpr int kLoads = 32;

/// Multiply-adds that one multiprocessor starts per clock; 0 if they are unknown.
struct Rates {
  int f32 = 0, tensor_core = 0;  ///< tensor_core: fp16 operands, f32 sums
};
Rates rates_of(int major, int minor);

/// The bounds of each rung, for square fp16 matrices of n rows and an f32 result.
class Roofline {
 public:
  Roofline(const halfgrad::cuda::DeviceProperties& device, std::int64_t n);

  Bound naive() const;
  Bound tiled() const;
  Bound tensor_core() const;
  Bound cublaslt() const;

 private:
  // The lower one of memory's bound and `multiply_adds` a clock on every multiprocessor.
  Bound at(double multiply_adds, const char* reason) const;

  halfgrad::cuda::DeviceProperties device_;
  Rates rates_;
  Bound memory_;
};

}  // namespace ladder
