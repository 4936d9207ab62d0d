// Comparisons of results with expected values, for the programs in right/.
#pragma once

#include <vector>

#include "planted.h"

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      std::printf("%s:%d: not %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                   \
    }                                                                 \
  } while (0)

template <class T>
std::vector<T> values(const T* device, int count) {
  std::vector<T> result(count);
  CHECK(cudaMemcpy(result.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return result;
}

template <class T>
void upload(T* device, const std::vector<T>& host) {
  CHECK(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
}

// Reads what launches and the device say.
inline void settle() {
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}
