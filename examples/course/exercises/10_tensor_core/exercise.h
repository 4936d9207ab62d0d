#pragma once

#include <cuda_fp16.h>

/// Computes y = x w^T on the GPU, for x [m, k], w [n, k] and y [m, n] in row-major order, in device
/// memory. Products of fp16 are added up in fp32. m, n and k are multiples of 32. Launches a kernel
/// and does not wait for it.
void multiply(const __half* x, const __half* w, float* y, int m, int n, int k);
