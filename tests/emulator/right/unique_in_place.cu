// thrust::unique compacts in place: CUB's blocks look at items that others move, and discard them.
#include <thrust/device_vector.h>
#include <thrust/unique.h>

#include "../right.h"

int main() {
  std::vector<int> host(20000);
  for (int i = 0; i < 20000; ++i) host[i] = i / 3;
  thrust::device_vector<int> x(host.begin(), host.end());
  const auto end = thrust::unique(x.begin(), x.end());
  EXPECT(end - x.begin() == 6667);
  EXPECT(x[6666] == 6666);
}
