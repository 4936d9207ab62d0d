#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <halfgrad/amp/grad_scaler.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/random.h>
#include <halfgrad/optim/clip_grad.h>
#include <halfgrad/optim/optim.h>
#include <halfgrad/tests/optim/make_optimizer.h>
#include <halfgrad/tests/optim/parameters.h>

/// Trainings on given gradients, to compare ways of making a step.
namespace halfgrad::amp {

using testing::bytes_of;

inline const std::vector<Shape> kGradientShapes = {{3, 5}, {1},       {},      {0, 4},
                                                   {4097}, {70, 130}, {16, 8}, {16, 8}};

struct PassCase {
  const char* name;
  MakeOptimizer make;
  std::vector<Shape> shapes = kGradientShapes;
};

inline std::vector<PassCase> pass_cases() {
  using namespace optim;
  return {
      {"sgd", make<SGD>(SGDArguments{.lr = 0.1, .weight_decay = 0.1})},
      {"sgd momentum", make<SGD>(SGDArguments{.lr = 0.1, .momentum = 0.9, .dampening = 0.5})},
      {"adam", make<Adam>(AdamArguments{.lr = 0.01, .weight_decay = 0.1})},
      {"adam amsgrad", make<Adam>(AdamArguments{.lr = 0.01, .amsgrad = true, .maximize = true})},
      {"adamw", make<AdamW>(AdamWArguments{.lr = 0.01})},
      {"rmsprop", make<RMSprop>(RMSpropArguments{.momentum = 0.9, .centered = true})},
      {"adagrad", make<Adagrad>(AdagradArguments{.lr_decay = 0.1, .weight_decay = 0.1})},
      {"adadelta", make<Adadelta>(AdadeltaArguments{.weight_decay = 0.1})},
      {"adamax", make<Adamax>(AdamaxArguments{.lr = 0.01})},
      {"radam", make<RAdam>(RAdamArguments{.lr = 0.01, .betas = {0.9, 0.5}})},
      {"lion", make<Lion>(LionArguments{.lr = 0.01, .weight_decay = 0.1})},
  };
}

/// Optimizers that launch more than the two passes.
inline std::vector<PassCase> longer_cases() {
  using namespace optim;
  const std::vector<Shape> matrices = {{3, 5}, {1, 1}, {4, 1}, {8, 8}, {17, 40}, {33, 70}};
  return {
      {"nadam", make<NAdam>(NAdamArguments{.lr = 0.01, .weight_decay = 0.1})},
      {"lamb", make<LAMB>(LAMBArguments{.lr = 0.01, .weight_decay = 0.1})},
      {"muon", make<Muon>(MuonArguments{.lr = 0.01}), matrices},
  };
}

/// The dtype in which a backward pass leaves a gradient of a float32 parameter; mixed: every second
/// one in float32, and the others in float16.
enum class Kept { wide, half, bfloat16, mixed };

inline DType dtype_of(Kept kept, std::size_t parameter) {
  if (kept == Kept::mixed) kept = parameter % 2 == 1 ? Kept::wide : Kept::half;
  return kept == Kept::half ? kHalf : kept == Kept::bfloat16 ? kBFloat16 : kFloat;
}

/// Parameters of several sizes, and what one way of making a step does to them.
class GivenGradients {
 public:
  GivenGradients(const PassCase& c, const std::vector<Shape>& shapes, Device device,
                 const GradScalerOptions& options)
      : scaler(options) {
    manual_seed(1);
    for (const Shape& shape : shapes) {
      parameters.push_back(randn(shape).to(device).requires_grad_());
    }
    optimizer = c.make(parameters);
  }

  /// Gives parameter i the gradient scale * values[i], as a backward pass does.
  void backward(const std::vector<Tensor>& values, Kept kept) {
    for (const Tensor& parameter : parameters) parameter.set_grad({});
    accumulate(values, kept);
  }
  void accumulate(const std::vector<Tensor>& values, Kept kept) {
    Tensor loss = zeros({}, {.device = parameters[0].device()});
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!values[i].defined()) continue;  // a parameter without a gradient
      const DType dtype = dtype_of(kept, i);
      loss = loss + (parameters[i].to(dtype) * values[i].to(dtype)).sum(kFloat);
    }
    scaler.scale(loss).backward();
  }

  /// Looks at every gradient, so that each call after it makes a pass of its own.
  void look() const {
    for (const Tensor& gradient : defined_gradients()) static_cast<void>(gradient.array());
  }

  void step_by_calls(double max_norm) {
    look();
    scaler.unscale_(*optimizer);
    total_norm = nn::utils::clip_grad_norm_(parameters, max_norm);
    scaler.step(*optimizer);
    scaler.update();
  }
  bool step_at_once(double max_norm) {
    const StepOutcome outcome = scaler.step_and_update(*optimizer, {.max_norm = max_norm});
    total_norm = outcome.total_norm();
    return !outcome.skipped();
  }

  /// All that a step writes but the gradients.
  std::vector<std::vector<std::byte>> state() const {
    std::vector<std::vector<std::byte>> all;
    for (const Tensor& parameter : parameters) {
      all.push_back(bytes_of(parameter.array()));
      for (const auto* each : {optimizer.get(), second.get()}) {
        if (each == nullptr) continue;
        for (const auto& [name, array] : each->state(parameter)) all.push_back(bytes_of(array));
      }
    }
    for (const auto& [name, array] : scaler.records()) all.push_back(bytes_of(array));
    if (total_norm.defined()) all.push_back(bytes_of(total_norm.array()));
    for (const auto* each : {optimizer.get(), second.get()}) {
      if (each == nullptr || !each->skipped_steps().defined()) continue;
      all.push_back(bytes_of(each->skipped_steps()));
    }
    return all;
  }
  std::vector<Tensor> defined_gradients() const {
    std::vector<Tensor> defined;
    for (const Tensor& parameter : parameters) {
      if (parameter.grad().defined()) defined.push_back(parameter.grad());
    }
    return defined;
  }
  std::vector<std::vector<std::byte>> gradients() const {
    std::vector<std::vector<std::byte>> all;
    for (const Tensor& gradient : defined_gradients()) all.push_back(bytes_of(gradient.array()));
    return all;
  }

  std::vector<Tensor> parameters;
  std::unique_ptr<optim::Optimizer> optimizer, second;  // the second is null, or a test's
  GradScaler scaler;
  Tensor total_norm;
};

inline std::vector<Tensor> draw_values(const std::vector<Shape>& shapes, double size,
                                       Device device) {
  std::vector<Tensor> values;
  for (const Shape& shape : shapes) {
    values.push_back((randn(shape) * Scalar(size)).to(device));
  }
  return values;
}

}  // namespace halfgrad::amp
