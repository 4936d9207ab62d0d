#pragma once
// HG_HD marks a function that runs on the host and, when nvcc compiles it, on the device too.

#ifdef __CUDACC__
#define HG_HD __host__ __device__
#else
#define HG_HD
#endif

namespace halfgrad::detail {

/// Whether this is a build with the CUDA backend, in which engines have a second branch.
#if defined(HALFGRAD_CUDA)
inline constexpr bool kWithCuda = true;
#else
inline constexpr bool kWithCuda = false;
#endif

}  // namespace halfgrad::detail
