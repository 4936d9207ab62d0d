#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/nn/linear.h>
#include <halfgrad/nn/module.h>

namespace halfgrad::nn {

struct FusedMLPArguments {
  bool bias = true;
  DType dtype = get_default_dtype();
  Device device = get_default_device();
  /// Between the layers: "relu", "gelu" or "gelu_tanh", which is `GELU({.approximate = "tanh"})`.
  std::string activation = "relu";
};
HALFGRAD_PLAIN_NAME(FusedMLPOptions, FusedMLPArguments)

/// Linear layers with an activation between them, computed as one op (`mlp` in autograd/mlp.h,
/// which says when it is fused). `FusedMLP({64, 128, 10})` computes the same as
/// `Sequential(Linear(64, 128), ReLU(), Linear(128, 10))`. It draws the same initial weights from
/// the same seed. It has the same state dict, so each loads the other's checkpoints.
class FusedMLP : public Callable<FusedMLP> {
 public:
  template <std::same_as<std::nullptr_t> T>
  FusedMLP(T empty) : Callable(empty) {}
  /// `sizes`: the features of the input, of each hidden layer, and of the output. Throws
  /// std::invalid_argument for fewer than two sizes, for a negative one and for another activation.
  explicit FusedMLP(const std::vector<std::int64_t>& sizes, const FusedMLPArguments& options = {});

  /// Maps `[..., sizes.front()]` to `[..., sizes.back()]`.
  Tensor forward(const Tensor& input) const;
  /// The mean cross entropy of the outputs and int64 classes `[...]`, without storing the outputs:
  /// mlp_cross_entropy in autograd/mlp.h. It has the bits of `cross_entropy(model(input), target)`,
  /// and a training step with it reads the batch once.
  Tensor cross_entropy(const Tensor& input, const Tensor& target) const;

  std::vector<Linear> layers;

 private:
  std::vector<Tensor> weights() const;
  std::vector<Tensor> biases() const;

  std::string activation_;
};

}  // namespace halfgrad::nn
