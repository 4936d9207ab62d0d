#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <halfgrad/optim/optimizer.h>

namespace halfgrad {

using MakeOptimizer = std::function<std::unique_ptr<optim::Optimizer>(std::vector<Tensor>)>;

/// Returns a function that makes an optimizer of type `T` with these options for given parameters.
template <class T, class Options>
MakeOptimizer make(const Options& options) {
  return [options](std::vector<Tensor> params) { return std::make_unique<T>(params, options); };
}

}  // namespace halfgrad
