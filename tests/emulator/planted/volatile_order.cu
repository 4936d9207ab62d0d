// Volatile accesses without the fences and barriers that they need all the same.
#include "../planted.h"

// Lanes in lockstep, as before Volta.
__global__ void reduce(const int* x, int* y) {
  __shared__ volatile int sums[64];
  const int t = threadIdx.x;
  sums[t] = x[t];
  __syncthreads();
  if (t < 32) {
    sums[t] += sums[t + 32];
    sums[t] += sums[t + 16];  // expect lockstep: note-race
    sums[t] += sums[t + 8];   // expect lockstep: note-race
    sums[t] += sums[t + 4];   // expect lockstep: note-race
    sums[t] += sums[t + 2];   // expect lockstep: note-race
    sums[t] += sums[t + 1];   // expect lockstep: note-race
  }
  if (t == 0) *y = sums[0];
}

// Each block publishes its sum and a flag, and waits for the flag of the block before.
template <class Sums>
__global__ void look_back(Sums sums, volatile int* flags, int* y) {
  const int tile = blockIdx.x;
  sums[tile] = 100 + tile;
  flags[tile] = 1;
  if (tile == 0) return;
  while (flags[tile - 1] == 0) {
  }
  y[tile] = sums[tile - 1];  // expect plain_sums: race
  // expect volatile_sums: note-race
}

template <class Sums>
void run_look_back() {
  Buffer<int> sums(4), flags(4), y(4);
  look_back<Sums><<<4, 1>>>(sums.data, flags, y);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"lockstep",
                    [] {
                      Buffer<int> x(64), y(1);
                      reduce<<<1, 64>>>(x, y);
                      finish();
                    }},
                   {"plain_sums", run_look_back<int*>},
                   {"volatile_sums", run_look_back<volatile int*>}});
}
