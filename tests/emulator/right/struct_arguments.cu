// Templates with structs as arguments, by value, with padding, a lambda and an array within.
#include <cstring>

#include "../right.h"

template <class T, int kRank>
struct View {
  T* data;
  char order;  // padding follows
  int sizes[kRank];
  double scale;
};

template <class T, int kRank, class F>
__global__ void map(const View<T, kRank> x, View<T, kRank> y, F f) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int n = 1;
  for (int d = 0; d < kRank; ++d) n *= x.sizes[d];
  if (i < n) y.data[i] = f(T(x.data[i] * x.scale));
}

struct Pair {
  char tag;
  double value;
};
__global__ void swap_pairs(Pair* pairs) {
  const Pair mine = pairs[threadIdx.x];
  Pair other;
  other.tag = mine.tag + 1;
  other.value = -mine.value;
  pairs[threadIdx.x] = other;
}

struct Plus {
  float amount;
  __device__ float operator()(float x) const { return x + amount; }
};

int main() {
  Buffer<float> x(60), y(60);
  upload(x.data, std::vector<float>(60, 2.0f));
  map<<<2, 32>>>(View<float, 3>{x, 'c', {3, 4, 5}, 1.5}, View<float, 3>{y, 'c', {3, 4, 5}, 1.0},
                 Plus{0.25f});
  settle();
  EXPECT(values(y.data, 60)[59] == 3.25f);
  Pair* pairs;
  std::vector<Pair> host(16);
  for (int i = 0; i < 16; ++i) host[i].tag = 'a', host[i].value = i;
  CHECK(cudaMalloc(&pairs, 16 * sizeof(Pair)));
  upload(pairs, host);
  swap_pairs<<<1, 16>>>(pairs);
  settle();
  host = values(pairs, 16);
  for (int i = 0; i < 16; ++i) EXPECT(host[i].tag == 'b' && host[i].value == -i);
  Pair* copy;
  CHECK(cudaMalloc(&copy, 16 * sizeof(Pair)));
  CHECK(cudaMemcpy(copy, pairs, 16 * sizeof(Pair), cudaMemcpyDeviceToDevice));
  EXPECT(values(copy, 16)[15].value == -15);
  CHECK(cudaFree(pairs));
  CHECK(cudaFree(copy));
}
