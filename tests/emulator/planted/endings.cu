// Programs with a race that end without return from main and without exit.
#include <unistd.h>
#include <cstdlib>

#include "../planted.h"

__global__ void exchange(int* x) {
  __shared__ int tile[64];
  tile[threadIdx.x] = x[threadIdx.x];
  x[threadIdx.x] = tile[63 - threadIdx.x];  // expect underscore_exit: race
  // expect capital_exit: race
  // expect quick_exit: race
  // expect abort: race
}

void run() {
  Buffer<int> x(64);
  exchange<<<1, 64>>>(x);
  finish();
}

int main(int count, char** arguments) {
  return run_case(count, arguments,
                  {{"underscore_exit",
                    [] {
                      run();
                      _exit(0);
                    }},
                   {"capital_exit",
                    [] {
                      run();
                      std::_Exit(0);
                    }},
                   {"quick_exit",
                    [] {
                      run();
                      std::quick_exit(0);
                    }},
                   {"abort", [] {
                      run();
                      std::abort();
                    }}});
}
