#include <halfgrad/nn/fused_mlp.h>

#include <sstream>
#include <string>

#include <halfgrad/autograd/mlp.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::nn {
namespace {

std::string described(const std::vector<std::int64_t>& sizes, const std::string& activation) {
  if (sizes.size() < 2) {
    halfgrad::detail::fail("FusedMLP", "expected the sizes of an input and an output, got {} sizes",
                           sizes.size());
  }
  if (activation != "relu" && activation != "gelu" && activation != "gelu_tanh") {
    halfgrad::detail::fail("FusedMLP",
                           "expected activation to be 'relu', 'gelu' or 'gelu_tanh', got '{}'",
                           activation);
  }
  std::ostringstream text;
  for (std::size_t i = 0; i < sizes.size(); ++i) text << (i > 0 ? "-" : "") << sizes[i];
  if (activation != "relu") text << ", activation=" << activation;
  return text.str();
}

}  // namespace

FusedMLP::FusedMLP(const std::vector<std::int64_t>& sizes, const FusedMLPArguments& options)
    : Callable("FusedMLP", described(sizes, options.activation)), activation_(options.activation) {
  const LinearArguments of_layer{options.bias, options.dtype, options.device};
  for (std::size_t l = 0; l + 1 < sizes.size(); ++l) {
    // The names in a Sequential, where every second module is an activation.
    layers.push_back(
        register_module(std::to_string(2 * l), Linear(sizes[l], sizes[l + 1], of_layer)));
  }
}

std::vector<Tensor> FusedMLP::weights() const {
  std::vector<Tensor> weights;
  for (const Linear& layer : layers) weights.push_back(layer.weight);
  return weights;
}

std::vector<Tensor> FusedMLP::biases() const {
  std::vector<Tensor> biases;
  for (const Linear& layer : layers) biases.push_back(layer.bias);
  return biases;
}

Tensor FusedMLP::forward(const Tensor& input) const {
  return mlp(input, weights(), biases(), activation_);
}

Tensor FusedMLP::cross_entropy(const Tensor& input, const Tensor& target) const {
  return mlp_cross_entropy(input, weights(), biases(), target, activation_);
}

}  // namespace halfgrad::nn
