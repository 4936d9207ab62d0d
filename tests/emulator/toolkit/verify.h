// Helpers of the programs in this folder: each compares the toolkit's results with the host's.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

inline int failures = 0;

inline void verify(bool right, const char* what, long size) {
  if (right) return;
  std::printf("WRONG: %s, size %ld\n", what, size);
  ++failures;
}

inline void succeed(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::printf("FAILED: %s: %s\n", call, cudaGetErrorString(status));
  std::exit(2);
}

#define SUCCEED(call) succeed((call), #call)

inline std::vector<unsigned> random_values(size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<unsigned> values(size);
  for (unsigned& value : values) value = generator();
  return values;
}

// Sizes around a warp and several tiles, and the largest that the command line names.
inline std::vector<size_t> sizes(int argc, char** argv) {
  std::vector<size_t> all = {0, 1, 31, 1000, 20000};
  if (argc > 1) all.push_back(std::strtoul(argv[1], nullptr, 10));
  return all;
}

inline int exit_code() {
  std::printf(failures == 0 ? "right\n" : "%d wrong\n", failures);
  return failures == 0 ? 0 : 1;
}
