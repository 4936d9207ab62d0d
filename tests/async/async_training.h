#pragma once

#include <memory>

#include <halfgrad/async/async_grad_scaler.h>
#include <halfgrad/tests/amp/training/trained.h>

/// Shared by the tests of AsyncGradScaler.
namespace halfgrad::amp {

/// One float32 parameter that starts at 1, trained by SGD on the update thread.
struct AsyncTraining {
  explicit AsyncTraining(
      const GradScalerOptions& options = {.init_scale = 4},
      std::shared_ptr<optim::UpdateThread> thread = std::make_shared<optim::UpdateThread>())
      : optimizer(sgd, std::move(thread)), scaler(optimizer, options) {}

  /// The gradient of the scaled loss if the loss has this gradient; infinite from `limit` on.
  void backward(double gradient = 1, double limit = kInfinite) {
    const double scaled = gradient * scaler.scale(filled({}, 1)).item();
    param.set_grad(vector_of({scaled < limit ? scaled : kInfinite}));
  }
  /// Runs the rest of an iteration; returns true if its step was skipped.
  bool step(bool is_async) {
    bool skipped = false;
    optimizer.step([&](optim::Optimizer& o) { skipped = scaler.step(o).skipped(); }, is_async);
    scaler.update(is_async);
    optimizer.thread().drain();
    return skipped;
  }
  double value() const { return param.item(); }

  Tensor param = filled({1}, 1).requires_grad_();
  optim::SGD sgd{{param}, {.lr = 1}};
  optim::AsyncOptimizer optimizer;
  AsyncGradScaler scaler;
};

}  // namespace halfgrad::amp
