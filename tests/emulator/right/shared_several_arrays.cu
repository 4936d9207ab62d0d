// One piece of dynamic shared memory holds three arrays of other types; another is static.
#include "../right.h"

__global__ void arrays(double* result, int n) {
  extern __shared__ __align__(16) unsigned char pool[];
  __shared__ float fixed[33];
  double* wide = reinterpret_cast<double*>(pool);
  int* whole = reinterpret_cast<int*>(wide + n);
  short* narrow = reinterpret_cast<short*>(whole + n);
  const int t = threadIdx.x;
  wide[t] = t, whole[t] = 2 * t, narrow[t] = short(3 * t);
  if (t < 33) fixed[t] = 0.5f;
  __syncthreads();
  const int o = n - 1 - t;
  result[t] = wide[o] + whole[o] + narrow[o] + fixed[t % 33];
}

int main() {
  Buffer<double> result(100);
  arrays<<<1, 100, 100 * 14>>>(result, 100);
  settle();
  const auto host = values(result.data, 100);
  for (int i = 0; i < 100; ++i) EXPECT(host[i] == 6 * (99 - i) + 0.5);
}
