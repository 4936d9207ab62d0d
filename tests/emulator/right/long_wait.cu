// Blocks wait long for one that computes without any store, and two blocks pass a ball.
#include "../right.h"

__global__ void wait_for_first(volatile int* flag, int* out, int steps) {
  if (blockIdx.x == 0) {
    unsigned state = 1;
    for (int i = 0; i < steps; ++i) state = state * 1664525u + 1013904223u;
    if (threadIdx.x == 0) {
      *out = state % 7 == 9;
      __threadfence();
      *flag = 1;
    }
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    if (threadIdx.x == 0) atomicAdd(out + 1, *out == 0);
  }
}

__global__ void pass_ball(volatile int* ball, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    while (*ball % 2 != blockIdx.x) {
    }
    atomicAdd(const_cast<int*>(ball), 1);
  }
}

int main() {
  Buffer<int> flag(1), out(2), ball(1);
  wait_for_first<<<6, 32>>>(flag, out, 3000000);
  settle();
  EXPECT(values(out.data, 2)[1] == 5);
  pass_ball<<<2, 1>>>(ball, 500);
  settle();
  EXPECT(values(ball.data, 1)[0] == 1000);
}
