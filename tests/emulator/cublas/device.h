#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

/// An array in device memory.
template <class T>
struct Device {
  explicit Device(const std::vector<T>& values) : count(values.size()) {
    EXPECT_EQ(cudaMalloc(&data, count * sizeof(T)), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(data, values.data(), count * sizeof(T), cudaMemcpyHostToDevice),
              cudaSuccess);
  }
  ~Device() { cudaFree(data); }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  std::vector<T> host() const {
    std::vector<T> values(count);
    EXPECT_EQ(cudaMemcpy(values.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost),
              cudaSuccess);
    return values;
  }
  T* data = nullptr;
  std::size_t count;
};

using Floats = std::vector<float>;

/// Small integers as floats, so that sums are exact.
inline Floats random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Floats values(count);
  for (float& value : values) value = static_cast<float>(random() % 17) - 8;
  return values;
}
