#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <halfgrad/amp/inspector/named_model.h>
#include <halfgrad/autograd/tensor.h>

namespace halfgrad::amp {

/// One of the two trainings of a TwinRun.
struct TwinSide {
  NamedModel model;
  /// Makes one training step and returns the loss, or an undefined tensor. Afterwards the
  /// parameters hold the step's gradients, unscaled, as GradScaler::step() leaves them.
  std::function<Tensor(std::int64_t step)> step;
};

struct TwinOptions {
  std::int64_t steps = 10;
  std::uint64_t seed = 0;  ///< manual_seed() before each side is built
  double bound = 0.1;      ///< the relative error that operator<< and first_beyond() look for
};

/// Relative errors of one layer in one step: the 2-norm of the difference from the float32 run,
/// divided by the 2-norm there. Infinity if the low-precision run has an inf or a NaN. Empty for a
/// layer without activations, gradients or weights.
struct TwinErrors {
  std::optional<double> activation = {};  ///< the layer's: the result of its last op
  std::optional<double> gradient = {};    ///< all the layer's parameters together
  std::optional<double> weight = {};      ///< after the step
};

/// One step of both runs: their losses, and the errors of each layer.
struct TwinStep {
  std::optional<double> loss = {};      ///< in float32
  std::optional<double> low_loss = {};  ///< in low precision
  std::vector<TwinErrors> layers = {};  ///< in the order of TwinRun::layers()
};

enum class TwinQuantity : std::uint8_t { activation, gradient, weight };
std::string_view name(TwinQuantity quantity);

/// The first error beyond a bound.
struct TwinDeviation {
  std::int64_t step;
  std::string layer;
  TwinQuantity quantity;
  double error;
};

/// A training in low precision beside the same training in float32: where do they part?
///
///   const amp::TwinRun twin([&](bool low_precision) {
///     auto run = std::make_shared<Training>(low_precision);  // model, optimizer, scaler
///     return amp::TwinSide{amp::NamedModel(run->model), [run](auto i) { return run->step(i); }};
///   }, {.steps = 20});
///   std::cout << twin;
///
/// `build` is called with false, then with true; it enables autocast, the scaler or 16-bit weights
/// only for true. The sides take turns, step by step, and each has default_generator() as it left
/// it: initial weights, shuffling and dropout are the same. Afterwards the generator is as before.
/// Two equal calls give equal results.
class TwinRun {
 public:
  /// Trains both sides. Throws std::invalid_argument for less than one step, for a side without a
  /// step function, and for sides whose ops, or shapes of parameters or activations, differ. The
  /// low-precision side may have casts, and more ops after those of the float32 side.
  explicit TwinRun(const std::function<TwinSide(bool low_precision)>& build,
                   const TwinOptions& options = {});

  /// Dotted paths of the modules in the order of their first ops, then those that ran no op. ""
  /// stands for ops and parameters of the outermost module, and for ops outside modules.
  const std::vector<std::string>& layers() const& { return layers_; }
  const std::vector<TwinStep>& steps() const& { return steps_; }
  /// The first step with an error above `bound`, and in it the first layer: activations in the
  /// order of the forward pass, then gradients in that of the backward pass, then weights.
  std::optional<TwinDeviation> first_beyond(double bound) const;
  std::optional<TwinDeviation> first_beyond() const { return first_beyond(bound_); }
  double bound() const { return bound_; }

 private:
  std::vector<std::string> layers_;
  std::vector<TwinStep> steps_;
  double bound_;
};

/// "step 3: gradient of encoder.2, relative error 0.31".
std::string explain(const TwinDeviation& deviation);

/// Prints the errors of the last step, one line for each layer, the last losses, and the first
/// error beyond the bound.
std::ostream& operator<<(std::ostream& out, const TwinRun& twin);

}  // namespace halfgrad::amp
