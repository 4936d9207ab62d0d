#pragma once
// HG_HD marks a function that runs on the host and, when nvcc compiles it, on the device too.

#include <halfgrad/core/language.h>

#ifdef __CUDACC__
#define HG_HD __host__ __device__
#else
#define HG_HD
#endif

namespace halfgrad::detail {

/// The branches that the engines compile. The build target cuda_functors checks functors for a
/// missing HG_HD. It leaves out the CPU, since nvcc cannot distinguish the SIMD instance of a
/// formula from a device instance that lacks HG_HD.
#if defined(HALFGRAD_CUDA)
inline constexpr bool kWithCuda = true;
#else
inline constexpr bool kWithCuda = false;
#endif
#if defined(HALFGRAD_DEVICE_ONLY)
inline constexpr bool kWithCpu = false;
#else
inline constexpr bool kWithCpu = true;
#endif

}  // namespace halfgrad::detail
