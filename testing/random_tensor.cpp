#include <halfgrad/testing/random_tensor.h>

#include <algorithm>

namespace halfgrad {

Tensor tensor_of(const std::vector<double>& values, const Shape& sizes) {
  Array array = Array::empty(sizes, kFloat64);
  std::copy_n(values.begin(), array.numel(), array.data_as<double>());
  return Tensor(std::move(array));
}

Tensor random_tensor(const Shape& sizes, double low, double high, RandomKey key) {
  std::vector<double> values(static_cast<std::size_t>(numel(sizes)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    double pair[2];
    uniform(random_block(key, i / 2), pair);
    values[i] = low + (high - low) * pair[i % 2];
  }
  return tensor_of(values, sizes);
}

}  // namespace halfgrad
