#pragma once

#include <cstddef>
#include <vector>

#include "engine.h"

/// The task of chapter 3: a network with one hidden layer learns y = sin(3 x) on [-1, 1].
namespace fit {

struct Network {
  engine::Tensor w1, b1, w2, b2;

  std::vector<engine::Tensor> parameters() const { return {w1, b1, w2, b2}; }
  /// [n, 1] to [n, 1].
  engine::Tensor operator()(const engine::Tensor& x) const {
    return add_row(matmul(tanh(add_row(matmul(x, w1), b1)), w2), b2);
  }
};

/// Weights from a fixed sequence of values in [-1, 1), the same in C++ and Python.
Network make_network(std::size_t hidden);

engine::Tensor inputs(std::size_t count);
engine::Tensor targets(const engine::Tensor& x);

/// mean((network(x) - target)^2)
engine::Tensor loss_of(const Network& network, const engine::Tensor& x,
                       const engine::Tensor& target);

/// Trains with plain gradient descent and returns the loss before each step.
std::vector<double> train(const Network& network, int steps, double lr);

/// The largest difference between the engine's gradients and central differences of the loss,
/// relative to the largest gradient.
double error_against_differences(const Network& network);

/// The same against halfgrad's gradients in float64.
double error_against_halfgrad(const Network& network);

}  // namespace fit
