// Helpers shared by the small programs in planted/ and right/.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#define CHECK(call)                                               \
  do {                                                            \
    const cudaError_t status = (call);                            \
    if (status != cudaSuccess) {                                  \
      std::printf("%s: %s\n", #call, cudaGetErrorString(status)); \
      std::exit(1);                                               \
    }                                                             \
  } while (0)

// Zeroed device memory that frees itself.
template <class T>
struct Buffer {
  explicit Buffer(int count) {
    CHECK(cudaMalloc(&data, count * sizeof(T)));
    CHECK(cudaMemset(data, 0, count * sizeof(T)));
  }
  ~Buffer() { cudaFree(data); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator T*() const { return data; }
  T* data = nullptr;
};

// Ends a program: a kernel that a finding stops is not an error of the program's own.
inline int finish() {
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) std::printf("%s\n", cudaGetErrorString(status));
  return 0;
}

// One program of a file that holds several.
struct Case {
  const char* name;
  void (*run)();
};

// Runs the case that the command line names, or lists the names without one.
inline int run_case(int count, char** arguments, std::initializer_list<Case> cases) {
  for (const Case& one : cases) {
    if (count < 2) std::printf("%s\n", one.name);
    if (count < 2 || std::strcmp(arguments[1], one.name) != 0) continue;
    one.run();
    return finish();
  }
  return count < 2 ? 0 : 2;
}
