// A loop takes one step too many.
#include "../planted.h"

__global__ void total(const int* x, int* out, int n) {
  int sum = 0;
  for (int i = 0; i <= n; ++i) sum += x[i];  // expect: out-of-bounds
  *out = sum;
}

int main() {
  Buffer<int> x(40), out(1);
  total<<<1, 1>>>(x, out, 40);
  return finish();
}
