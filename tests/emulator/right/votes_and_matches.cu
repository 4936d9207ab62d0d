// Votes, matches and reductions of a warp, with a divergent branch that names its own lanes.
#include "../right.h"

__global__ void votes(unsigned* result) {
  const unsigned lane = threadIdx.x;
  const unsigned even = __ballot_sync(0xffffffffu, lane % 2 == 0);
  const unsigned same = __match_any_sync(0xffffffffu, lane / 4);
  const int any = __any_sync(0xffffffffu, lane == 7), all = __all_sync(0xffffffffu, lane < 31);
  unsigned sum = 0;
  if (lane % 2 == 0) {
    sum = __reduce_add_sync(even, lane);
  } else {
    sum = __reduce_max_sync(~even, lane);
  }
  result[lane * 4] = even;
  result[lane * 4 + 1] = same;
  result[lane * 4 + 2] = any * 2 + all;
  result[lane * 4 + 3] = sum;
}

int main() {
  Buffer<unsigned> result(128);
  votes<<<1, 32>>>(result);
  settle();
  const auto host = values(result.data, 128);
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT(host[lane * 4] == 0x55555555u);
    EXPECT(host[lane * 4 + 1] == 0xfu << (lane / 4 * 4));
    EXPECT(host[lane * 4 + 2] == 2);
    EXPECT(host[lane * 4 + 3] == (lane % 2 == 0 ? 240u : 31u));
  }
}
