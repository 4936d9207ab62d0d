#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>

/// The operands of mlp in tests.
namespace halfgrad {

struct Layers {
  std::vector<Tensor> weights, biases;
  std::string activation = "relu";

  Tensor as_one_op(const Tensor& x) const { return mlp(x, weights, biases, activation); }
  Tensor one_by_one(const Tensor& x) const {
    Tensor h = x;
    for (std::size_t l = 0; l < weights.size(); ++l) {
      const Tensor bias = biases.empty() ? Tensor() : biases[l];
      const bool last = l + 1 == weights.size(), is_relu = activation == "relu";
      h = is_relu && !last ? linear_relu(h, weights[l], bias) : linear(h, weights[l], bias);
      if (!is_relu && !last) h = gelu(h, activation == "gelu" ? "none" : "tanh");
    }
    return h;
  }
  std::vector<Tensor> all() const {
    std::vector<Tensor> result = weights;
    for (const Tensor& bias : biases) {
      if (bias.defined()) result.push_back(bias);
    }
    return result;
  }
};

// Weights of a usual size, so that activations neither grow nor vanish.
inline Layers draw_layers(const std::vector<std::int64_t>& sizes, DType dtype, Device device,
                          bool biases, const std::string& activation = "relu") {
  Layers layers;
  layers.activation = activation;
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    const double scale = std::sqrt(2.0 / static_cast<double>(sizes[l]));
    layers.weights.push_back(
        (randn({sizes[l + 1], sizes[l]}) * scale).to(device).to(dtype).requires_grad_());
    if (biases) {
      layers.biases.push_back(randn({sizes[l + 1]}).to(device).to(dtype).requires_grad_());
    }
  }
  return layers;
}

}  // namespace halfgrad
