#pragma once

/// Marks a function that runs on the host and, where a CUDA compiler reads it, on the device.
#if defined(__CUDACC__)
#define HG_HD __host__ __device__
#else
#define HG_HD
#endif
