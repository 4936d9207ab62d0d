#pragma once
// HG_HD marks a function that runs on the host and, when nvcc compiles it, on the device too.

#ifdef __CUDACC__
#define HG_HD __host__ __device__
#else
#define HG_HD
#endif
