#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/creation.h>

namespace halfgrad::testing {

/// The pseudo-random numbers of `Stream` in tests/expected/long_runs.py: multiples of 1/256 in
/// [-4, 4].
class Stream {
 public:
  Tensor tensor(const Shape& sizes, DType dtype, double factor = 1) {
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) count *= size;
    std::vector<double> values(static_cast<std::size_t>(count));
    for (double& value : values) value = factor * next();
    return halfgrad::tensor(values, sizes, {.dtype = dtype});
  }

 private:
  double next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return (static_cast<double>((state_ >> 33) % 2049) - 1024) / 256;
  }

  std::uint64_t state_ = 1;
};

}  // namespace halfgrad::testing
