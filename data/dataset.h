#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include <halfgrad/autograd/tensor.h>

namespace halfgrad::data {

/// What a model is given (x) and what it should answer (y).
using Batch = std::pair<Tensor, Tensor>;

/// Numbered samples. `get_batch` puts those with the given numbers, each in [0, size()), into one
/// batch; a DataLoader calls it from its own thread, one batch after the other. Random numbers are
/// to come from default_generator() or from its initial_seed(), which a DataLoader makes the
/// batch's own: then every run gives the same batches.
template <class D>
concept Dataset = std::copy_constructible<D> &&
    requires(const D& dataset, std::span<const std::int64_t> indices) {
  { dataset.size() } -> std::convertible_to<std::int64_t>;
  { dataset.get_batch(indices) } -> std::convertible_to<Batch>;
};

/// Samples that lie in memory: x [n, ...] and y [n, ...], of any dtypes, on the CPU.
class TensorDataset {
 public:
  /// Throws std::invalid_argument unless both are on the CPU and have the same n.
  TensorDataset(const Tensor& x, const Tensor& y);

  std::int64_t size() const { return x_.size(0); }

  /// Copies rows: x [indices.size(), ...] and y [indices.size(), ...].
  /// Throws std::out_of_range for an index outside [0, size()).
  Batch get_batch(std::span<const std::int64_t> indices) const;

 private:
  Array x_, y_;  // row-major
};

}  // namespace halfgrad::data
