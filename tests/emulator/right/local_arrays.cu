// Local arrays that are filled in part, and read where they were written.
#include "../right.h"

struct Pair {
  char key;
  int value;
};

__device__ __noinline__ int largest(const int* x, int n) {
  int best = x[0];
  for (int i = 1; i < n; ++i) best = max(best, x[i]);
  return best;
}

__device__ __noinline__ int deep(int n) {
  int stack[32];
  int top = 0;
  stack[top++] = n;
  int sum = 0;
  while (top > 0) {
    const int value = stack[--top];
    sum += value;
    if (value > 1) {
      stack[top++] = value / 2;
      stack[top++] = value - value / 2 - 1;
    }
  }
  return sum;
}

__global__ void compute(const int* x, int* y, int n) {
  int kept[24];
  int count = 0;
  for (int i = 0; i < n; ++i)
    if (x[i] % 2 == 0) kept[count++] = x[i];
  int sum = 0;
  for (int i = count - 1; i >= 0; --i) sum += kept[i] * (i + 1);
  Pair pairs[8];
  for (int i = 0; i < 8; ++i) pairs[i] = {static_cast<char>(x[i]), x[i] * 2};
  const Pair chosen = pairs[x[threadIdx.x] & 7];
  y[threadIdx.x] = sum + largest(kept, count) + deep(count) + chosen.key + chosen.value;
}

int main() {
  Buffer<int> x(20), y(16);
  std::vector<int> host(20);
  for (int i = 0; i < 20; ++i) host[i] = i;
  upload(x.data, host);
  compute<<<2, 16>>>(x, y, 20);
  settle();
  int sum = 0, first = 0;
  for (int i = 0; i < 10; ++i) sum += 2 * i * (i + 1);
  const std::vector<int> result = values(y.data, 16);
  first = result[0] - sum - 18;
  EXPECT(result[3] == first + sum + 18 + 9);
}
