#pragma once

#include <halfgrad/compat/names.h>

#include <tuple>
#include <utility>

#include <halfgrad/compat/option.h>
#include <halfgrad/optim/optim.h>

/// libtorch's options of optimizers: `optim::SGD(parameters,
/// optim::SGDOptions(0.1).momentum(0.9))`. Each converts to the plain struct that the optimizer
/// takes.
namespace halfgrad::optim {

/// The two betas, from libtorch's std::tuple or from a std::pair.
class Betas {
 public:
  Betas(double beta1, double beta2) : pair_(beta1, beta2) {}
  Betas(std::pair<double, double> pair) : pair_(pair) {}
  Betas(std::tuple<double, double> pair) : pair_(std::get<0>(pair), std::get<1>(pair)) {}
  operator std::pair<double, double>() const { return pair_; }
  operator std::tuple<double, double>() const { return {pair_.first, pair_.second}; }

 private:
  std::pair<double, double> pair_;
};

class SGDOptions {
 public:
  SGDOptions(double lr) : lr_(lr) {}
  operator SGDArguments() const {
    return {.lr = lr_,
            .momentum = momentum_,
            .dampening = dampening_,
            .weight_decay = weight_decay_,
            .nesterov = nesterov_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(double, momentum) = 0;
  TORCH_ARG(double, dampening) = 0;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, nesterov) = false;
};

class AdamOptions {
 public:
  AdamOptions(double lr = 1e-3) : lr_(lr) {}
  operator AdamArguments() const {
    return {.lr = lr_,
            .betas = betas_,
            .eps = eps_,
            .weight_decay = weight_decay_,
            .amsgrad = amsgrad_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(Betas, betas) = {0.9, 0.999};
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 0;
  TORCH_ARG(bool, amsgrad) = false;
};

class AdamWOptions {
 public:
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}
  operator AdamWArguments() const {
    return {.lr = lr_,
            .betas = betas_,
            .eps = eps_,
            .weight_decay = weight_decay_,
            .amsgrad = amsgrad_};
  }

  TORCH_ARG(double, lr);
  TORCH_ARG(Betas, betas) = {0.9, 0.999};
  TORCH_ARG(double, eps) = 1e-8;
  TORCH_ARG(double, weight_decay) = 1e-2;
  TORCH_ARG(bool, amsgrad) = false;
};

}  // namespace halfgrad::optim
