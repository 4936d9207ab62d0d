// A cooperative grid reduces in two steps with grid.sync(), as many blocks as fit.
#include <cooperative_groups.h>

#include "../right.h"

namespace cg = cooperative_groups;

__global__ void reduce(const float* x, float* partial, float* result, int n) {
  auto grid = cg::this_grid();
  float sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += x[i];
  partial[grid.thread_rank()] = sum;
  grid.sync();
  for (int step = grid.size() / 2; step > 0; step /= 2) {
    if (grid.thread_rank() < step)
      partial[grid.thread_rank()] += partial[grid.thread_rank() + step];
    grid.sync();
  }
  if (grid.thread_rank() == 0) *result = partial[0];
}

int main() {
  int supported = 0, per_unit = 0, n = 5000;
  CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, reduce, 64, 0));
  EXPECT(supported == 1 && per_unit >= 1);
  Buffer<float> x(n), partial(512), result(1);
  upload(x.data, std::vector<float>(n, 1.0f));
  void* arguments[] = {&x.data, &partial.data, &result.data, &n};
  CHECK(cudaLaunchCooperativeKernel(reduce, dim3(8), dim3(64), arguments, 0, nullptr));
  settle();
  EXPECT(values(result.data, 1)[0] == 5000.0f);
}
