// Many threads write the same value to one flag, as graph searches do.
#include "../right.h"

__global__ void step(const int* levels, int* next, bool* changed, int n, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  next[i] = levels[i];
  if (levels[i] < 0 &&
      ((i > 0 && levels[i - 1] == level) || (i + 1 < n && levels[i + 1] == level))) {
    next[i] = level + 1;
    *changed = true;
  }
}

int main() {
  const int n = 50;
  std::vector<int> host(n, -1);
  host[20] = host[22] = 0;
  Buffer<int> a(n), b(n);
  Buffer<bool> changed(1);
  upload(a.data, host);
  int *from = a, *to = b;
  for (int level = 0;; ++level) {
    CHECK(cudaMemset(changed, 0, 1));
    step<<<2, 32>>>(from, to, changed, n, level);
    settle();
    std::swap(from, to);
    bool more;
    CHECK(cudaMemcpy(&more, changed, 1, cudaMemcpyDeviceToHost));
    if (!more) break;
  }
  const auto out = values(from, n);
  EXPECT(out[0] == 20 && out[49] == 27 && out[21] == 1);
}
