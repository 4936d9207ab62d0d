#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

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
