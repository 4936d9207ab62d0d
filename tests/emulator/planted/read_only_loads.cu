// Loads through the read-only cache of what the same kernel has stored.
#include "../planted.h"

constexpr int kThreads = 64;

__global__ void by_ldg(int* x) {
  x[threadIdx.x] += 1;
  __syncthreads();
  x[kThreads + threadIdx.x] = __ldg(x + kThreads - 1 - threadIdx.x);  // expect ldg: race
}

// The caller passes the same array twice.
__global__ void by_restrict(const int* __restrict__ x, int* y) {
  y[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[kThreads + threadIdx.x] = x[kThreads - 1 - threadIdx.x];  // expect restrict_alias: race
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"ldg",
                    [] {
                      Buffer<int> x(2 * kThreads);
                      by_ldg<<<1, kThreads>>>(x);
                      finish();
                    }},
                   {"restrict_alias", [] {
                      Buffer<int> x(2 * kThreads);
                      by_restrict<<<1, kThreads>>>(x, x);
                      finish();
                    }}});
}
