#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/async/update_thread.h>
#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

/// Overflows of rounding to the model's 16-bit parameters: elements that are finite on the host and
/// infinite in the model.
struct WriteBackReport {
  std::int64_t overflows = 0;         ///< in the last write-back
  std::int64_t first_parameter = -1;  ///< the first that holds one, in the optimizer's order
  std::int64_t total_overflows = 0;   ///< in all write-backs
};

/// An optimizer's state, its float32 parameters, and the gradients that accumulate() has collected
/// for the next step. Without the parameters a run would resume from rounded ones.
struct AsyncOptimizerState {
  OptimizerState optimizer;
  std::vector<Array> parameters;
  std::vector<Array> gradients{};  ///< one for each parameter, undefined if it has none; or empty
  double gradient_scale = 1;       ///< the factor in the gradients
};

/// The factor in gradients of a scaled loss, and its scale id.
struct GradientScale {
  double value = 1;
  detail::ScaleId id = detail::kUnknownScale;
};

/// Runs an optimizer on the host and on a thread of its own, while the device computes the next
/// forward and backward pass.
///
///   optim::AdamW adamw(model.parameters(), {.lr = 1e-3});
///   optim::AsyncOptimizer optimizer(adamw);
///   for (...) {
///     loss(model, batch).backward();
///     optimizer.step();                 // moves the gradients away, returns
///   }
///   optimizer.synchronize();            // before evaluation
///
/// The model's parameters may be 16-bit and on a GPU. The optimizer updates copies of them on the
/// CPU, float32 unless the model's are float64; step() rounds these to nearest even into the model.
/// With p(k) the parameters after k updates, iteration k = 0, 1, ... computes its gradients with
///
///     p(k)            if every step is synchronous
///     p(max(k-1, 0))  if every step is asynchronous: one update old, whatever the timing
///
/// An exception on the update thread is thrown again by the next call that waits for it: the next
/// step(), a synchronous step() itself, synchronize() or state_dict(). The failed step's gradients
/// are dropped, its changes of parameters stay, and training can continue.
///
/// Make all calls on one thread, except those for step functions. The ideas are RoundPipe's.
class AsyncOptimizer {
 public:
  /// Runs on the update thread with the optimizer, whose parameters hold this step's gradients. It
  /// may clip them, call step() and a learning-rate scheduler; it must not touch the model.
  using StepFunction = std::function<void(Optimizer&)>;

  /// Gives `optimizer` the host's copies as parameters, and converts its state to them. Until the
  /// destructor only step functions may use it: its step() elsewhere, and that of a GradScaler with
  /// it, throws std::runtime_error. `optimizer` must outlive this object; several objects may share
  /// `thread`. Throws std::invalid_argument for parameters on several devices, and for an optimizer
  /// with amp::MasterWeights.
  explicit AsyncOptimizer(Optimizer& optimizer,
                          std::shared_ptr<UpdateThread> thread = std::make_shared<UpdateThread>());
  /// Waits for launched steps, writes the result to the model, and gives the optimizer the model's
  /// parameters back, with its state converted to them: further steps may be plain ones, or those
  /// of another AsyncOptimizer. The state of 16-bit parameters is then rounded to 16 bits. Prints a
  /// failure on stderr.
  ~AsyncOptimizer();
  AsyncOptimizer(const AsyncOptimizer&) = delete;
  AsyncOptimizer& operator=(const AsyncOptimizer&) = delete;

  /// Waits for the previous update, writes its result to the model, takes the model's gradients and
  /// launches `step_fn`, by default the optimizer's step(). Afterwards the model has no gradients.
  /// A synchronous step also waits for this update and writes its result. The two may be mixed.
  /// Throws std::runtime_error if the model's parameters were changed by other code; see
  /// copy_from_parameters().
  void step(const StepFunction& step_fn = nullptr, bool is_async = true);

  /// Takes the model's gradients and adds them, in float32, to those of the next step. Call it
  /// after each backward pass except the last of a step. Returns at once.
  void accumulate();

  /// Waits for launched steps and writes the result to the model, whose parameters are then up to
  /// date. Call it before evaluation. Gradients accumulated so far are kept for the next step.
  void synchronize();

  /// Copies the model's parameters to the host; call it after loading a checkpoint into the model.
  /// An update not yet written to the model is lost.
  void copy_from_parameters();

  const WriteBackReport& write_back_report() const { return report_; }

  /// Both call synchronize() first, so the next iteration computes its gradients with up-to-date
  /// parameters, in this run as in a resumed one.
  AsyncOptimizerState state_dict();
  /// Writes the parameters to the model, too. Throws std::invalid_argument as Optimizer's, and for
  /// another number or other shapes of parameters; then nothing has changed.
  void load_state_dict(const AsyncOptimizerState& state);

  /// The optimizer's name.
  const std::string& name() const { return optimizer_.name(); }
  UpdateThread& thread() const { return *thread_; }

  /// For loss scalers: declares that gradients of the next backward passes are `scale` times too
  /// large. Throws std::runtime_error while the model holds gradients of another scale.
  void set_gradient_scale(double scale);
  /// In a step function: the scale of the optimizer's gradients, for a caller who then divides by
  /// it; empty if there are no gradients or it was taken before. Until it is taken, the optimizer's
  /// step() and clipping throw std::runtime_error, unless it is 1. Gradients of two scales cannot
  /// be added.
  std::optional<GradientScale> take_gradient_scale();

 private:
  struct Parameter {
    Tensor model;
    Tensor host;
    Array rounded;  // the values of `host` in the model's dtype
    std::int64_t overflows = 0;
    std::uint32_t model_version = 0;
  };
  struct Gradients {
    std::vector<Tensor> by_parameter;
    GradientScale scale;
    Event arrived;
  };

  Array host_copy(const Tensor& tensor, DType dtype) const;
  void expect_step_function(const char* method) const;
  void check_unchanged(const char* method) const;
  void note_versions();
  void write_back();
  void give_back_parameters();
  std::shared_ptr<Gradients> take_gradients(const char* method);
  // These run on the update thread.
  void add(const Gradients& gradients);
  void update(const StepFunction& step_fn);
  void drop_gradients();
  void round_parameters();

  Optimizer& optimizer_;
  Device device_;  // the model's
  std::vector<Parameter> parameters_;
  HookHandle refuse_scaled_;
  GradientScale scale_;  // scale of the model's gradients
  bool written_back_ = true;
  Event written_;  // end of the last write-back
  WriteBackReport report_;
  UpdateThread::Ticket last_step_ = 0;

  // The scale of the optimizer's gradients, until take_gradient_scale(). Only the update thread
  // uses it.
  std::optional<GradientScale> held_scale_;

  std::shared_ptr<UpdateThread> thread_;
};

}  // namespace halfgrad::optim
