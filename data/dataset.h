#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::data {

/// The model's input x and the target y.
using Batch = std::pair<Tensor, Tensor>;

/// Samples with the indices 0 ... size() - 1. `get_batch` gathers the samples at the given indices
/// into one batch; a DataLoader calls it from its own thread, one batch after the other. To give
/// the same batches in every run, draw random numbers only from default_generator() or an engine
/// seeded with its initial_seed(): the DataLoader sets this generator for each batch.
template <class D>
concept MapStyleDataset = std::copy_constructible<D> &&
    requires(const D& dataset, std::span<const std::int64_t> indices) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  { dataset.get_batch(indices) } -> std::convertible_to<Batch>;
};

/// Samples in the CPU's memory: x `[n, ...]` and y `[n, ...]`, of any dtypes.
class TensorDataset {
 public:
  /// Throws std::invalid_argument unless both are on the CPU and have the same n.
  TensorDataset(const Tensor& x, const Tensor& y);

  std::int64_t size() const { return x_.size(0); }

  /// Copies the rows into x `[indices.size(), ...]` and y `[indices.size(), ...]`. Throws
  /// std::out_of_range for an index outside [0, size()).
  Batch get_batch(std::span<const std::int64_t> indices) const;

 private:
  Array x_, y_;  // row-major
};

}  // namespace halfgrad::data
