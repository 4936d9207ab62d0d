#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

/// Linear layers with ReLU between them, computed as one op (`mlp` in autograd/mlp.h, which says
/// when it is fused). `FusedMLP({64, 128, 10})` computes what
/// `Sequential(Linear(64, 128), ReLU(), Linear(128, 10))` computes, draws the same initial weights
/// from the same seed, and has the same state dict, so each loads the other's checkpoints.
class FusedMLP : public Callable<FusedMLP> {
 public:
  template <std::same_as<std::nullptr_t> T>
  FusedMLP(T empty) : Callable(empty) {}
  /// `sizes`: the features of the input, of each hidden layer, and of the output. Throws
  /// std::invalid_argument for fewer than two sizes and for a negative one.
  explicit FusedMLP(const std::vector<std::int64_t>& sizes, LinearArguments options = {});

  /// Maps `[..., sizes.front()]` to `[..., sizes.back()]`.
  Tensor forward(const Tensor& input) const;

  std::vector<Linear> layers;
};

}  // namespace halfgrad::nn
