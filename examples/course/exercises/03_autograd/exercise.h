#pragma once

#include <functional>
#include <vector>

/// One operation of a graph of scalars.
struct Node {
  double value = 0;
  double grad = 0;                 // dloss/dvalue, the sum over all uses
  std::vector<Node*> inputs = {};  // the same input may stand twice
  std::function<void()> backward;  // adds to the inputs' gradients; empty for a leaf
};

/// Part 1. softplus(x) = log(1 + exp(x)). Returns the derivative at x, for every finite x.
double softplus_slope(double x);

/// Part 2. Returns `output` and all nodes that it depends on, each once, and each before its
/// inputs.
std::vector<Node*> backward_order(Node* output);
