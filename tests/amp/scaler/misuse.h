#pragma once

#include <halfgrad/tests/amp/training/trained.h>

namespace halfgrad::amp {

/// Two optimizers and a scaler on loss(w) = sum(w^2), whose gradient is 2 w.
struct Bench {
  Tensor w = vector_of({1, -3}).requires_grad_();
  Tensor v = vector_of({2}).requires_grad_();
  optim::SGD optimizer{{w}, {.lr = 0.25}};
  optim::SGD other{{v}, {.lr = 0.25}};
  GradScaler scaler{{.init_scale = 8}};

  void backward(double factor = 1) { scaler.scale(sum(w * w) * factor).backward(); }
  void step() { scaler.step(optimizer); }
  void update() { scaler.update(); }
  void iteration(double factor = 1) {
    backward(factor);
    step();
    update();
  }
};

}  // namespace halfgrad::amp
