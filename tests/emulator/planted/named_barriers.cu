// Named barriers at which the wrong threads meet.
#include "../planted.h"

__device__ void meet(int barrier) { asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory"); }

// Both halves of the block use barrier 1: a warp of one half may meet a warp of the other.
__global__ void halves_share_one(const int* x, int* y) {
  __shared__ int tile[128];
  const int i = threadIdx.x, first = i / 64 * 64;
  tile[i] = x[i];
  meet(1);  // expect halves_share_one: barrier
  y[i] = tile[first + 63 - i % 64];
}

// The consumers wait at barrier 2, and the producers, which then exit, arrive at barrier 1.
__global__ void other_barrier(const int* x, int* y) {
  __shared__ int tile[64];
  const int i = threadIdx.x % 64;
  if (threadIdx.x < 64) {
    tile[i] = x[i];
    asm volatile("bar.arrive 1, 128;" ::: "memory");
  } else {
    meet(2);
    y[i] = tile[63 - i];  // expect other_barrier: race
  }
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"halves_share_one",
                    [] {
                      Buffer<int> x(128), y(128);
                      halves_share_one<<<1, 128>>>(x, y);
                      finish();
                    }},
                   {"other_barrier", [] {
                      Buffer<int> x(64), y(64);
                      other_barrier<<<1, 128>>>(x, y);
                      finish();
                    }}});
}
