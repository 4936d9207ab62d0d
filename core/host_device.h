#pragma once

/// Marks a function that compiles for the host and, under nvcc, for the device too.
#ifdef __CUDACC__
#define HG_HD __host__ __device__
#else
#define HG_HD
#endif
