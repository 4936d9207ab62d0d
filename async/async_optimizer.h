#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <halfgrad/async/update_thread.h>
#include <halfgrad/autograd/grad_scale.h>
#include <halfgrad/core/stream.h>
#include <halfgrad/optim/optimizer.h>

namespace halfgrad::optim {

/// What rounding to the model's 16-bit parameters lost: elements that are finite on the host and
/// infinite in the model.
struct WriteBackReport {
  std::int64_t overflows = 0;         ///< in the last write-back
  std::int64_t first_parameter = -1;  ///< the first that holds one, in the optimizer's order
  std::int64_t total_overflows = 0;   ///< in all write-backs
};

/// An optimizer's state and the float32 parameters it belongs to; moments alone would resume from
/// rounded parameters. And what accumulate() has given to the next step.
struct AsyncOptimizerState {
  OptimizerState optimizer;
  std::vector<Array> parameters;
  std::vector<Array> gradients{};  ///< of each parameter, undefined where there is none; or empty
  double gradient_scale = 1;       ///< what they were multiplied by
};

/// What gradients were multiplied by, and whose scale that is.
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
///   p(k)            if every step is synchronous,
///   p(max(k-1, 0))  if every step is asynchronous: one update old, whatever the timing.
///
/// What the update thread throws is thrown by the call that next waits for it: the next step(), a
/// synchronous one's own, synchronize(), state_dict(). That step's gradients are dropped, the
/// parameters stay as far as it got, and training can go on.
///
/// All calls are to be made by one thread, but for what is said to belong to step functions. The
/// ideas are RoundPipe's.
class AsyncOptimizer {
 public:
  /// Runs on the update thread with the optimizer, whose parameters hold this step's gradients:
  /// clips them, calls step(), a learning-rate scheduler. May not touch the model.
  using StepFunction = std::function<void(Optimizer&)>;

  /// From here on `optimizer`, which must outlive this object, owns the host's copies: what it
  /// remembers is converted to them, and only step functions may use it: its step() elsewhere, and
  /// that of a GradScaler with it, throws std::runtime_error. `thread` may be shared
  /// with others. Throws std::invalid_argument for parameters on several devices, and for an
  /// optimizer with amp::MasterWeights.
  explicit AsyncOptimizer(Optimizer& optimizer,
                          std::shared_ptr<UpdateThread> thread = std::make_shared<UpdateThread>());
  /// Completes what was launched and leaves the result in the model; a failure goes to stderr.
  ~AsyncOptimizer();
  AsyncOptimizer(const AsyncOptimizer&) = delete;
  AsyncOptimizer& operator=(const AsyncOptimizer&) = delete;

  /// Waits for the update before, writes its result to the model, takes the model's gradients and
  /// launches `step_fn`, by default the optimizer's step(). Afterwards the model has no gradients.
  /// Synchronous: waits for this update, too, and writes its own result. The two may be mixed.
  /// Throws std::runtime_error if the model's parameters were changed by anybody else; see
  /// copy_from_parameters().
  void step(const StepFunction& step_fn = nullptr, bool is_async = true);

  /// Takes the model's gradients and adds them, in float32, to those the next step will use: to be
  /// called after each backward pass but the last of a step. Returns at once.
  void accumulate();

  /// Completes what was launched and writes the result to the model: its parameters are up to date.
  /// To be called before evaluation. Gradients accumulated so far are kept for the next step.
  void synchronize();

  /// Takes the model's parameters over, as after a checkpoint was loaded into it. An update not yet
  /// written to the model is lost.
  void copy_from_parameters();

  const WriteBackReport& write_back_report() const { return report_; }

  /// Both synchronize() first: the next iteration computes its gradients with up to date
  /// parameters, in this training as in one that is resumed.
  AsyncOptimizerState state_dict();
  /// Throws std::invalid_argument, as Optimizer's and for parameters of another number or shape,
  /// and then has changed nothing. The parameters are written to the model.
  void load_state_dict(const AsyncOptimizerState& state);

  /// The optimizer's.
  const std::string& name() const { return optimizer_.name(); }
  UpdateThread& thread() const { return *thread_; }

  /// For loss scalers. Gradients that backward makes from now on are `scale` times too large, and
  /// carry that number. Throws std::runtime_error while the model holds gradients of another scale.
  void set_gradient_scale(double scale);
  /// In a step function: the scale of the optimizer's gradients, for a caller who now divides by
  /// it; none if there are no gradients or it was taken before. Until then the optimizer's step()
  /// throws std::runtime_error, unless it is 1, as clipping does. Gradients of two scales do not
  /// mix.
  std::optional<GradientScale> take_gradient_scale();

 private:
  struct Parameter {
    Tensor model;
    Tensor host;
    Array rounded;  // the host's numbers in the model's dtype
    std::int64_t overflows = 0;
    std::uint32_t model_version = 0;
  };
  struct Gradients {
    std::vector<Tensor> of;  // each parameter
    GradientScale scale;
    Event arrived;
  };

  Array host_copy(const Tensor& tensor, DType dtype) const;
  void expect_step_function(const char* method) const;
  void check_unchanged(const char* method) const;
  void note_versions();
  void write_back();
  std::shared_ptr<Gradients> take_gradients(const char* method);
  // On the update thread.
  void add(const Gradients& gradients);
  void update(const StepFunction& step_fn);
  void drop_gradients();
  void round_parameters();

  Optimizer& optimizer_;
  Device device_;  // the model's
  std::vector<Parameter> parameters_;
  HookHandle refuse_scaled_;
  GradientScale scale_;  // of gradients that the model is given
  bool written_back_ = true;
  Event written_;  // behind the last write-back
  WriteBackReport report_;
  UpdateThread::Ticket last_step_ = 0;

  std::optional<GradientScale> held_scale_;  // of the optimizer's gradients; the update thread's

  std::shared_ptr<UpdateThread> thread_;
};

}  // namespace halfgrad::optim
