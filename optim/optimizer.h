#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/optim/group_options.h>

namespace halfgrad::optim {

/// Parameters that share options, as in torch.optim. Options left empty take the optimizer's own
/// values when the group is added; an optimizer keeps empty those it does not have.
struct ParamGroup {
  std::vector<Tensor> params{};
  std::optional<double> lr{};
  std::optional<double> momentum{};
  std::optional<double> dampening{};
  std::optional<bool> nesterov{};
  std::optional<std::pair<double, double>> betas{};
  std::optional<double> eps{};
  std::optional<double> weight_decay{};
  std::optional<bool> amsgrad{};
  std::optional<bool> maximize{};
  std::optional<double> initial_lr{};  ///< set by the first learning-rate scheduler, or OneCycleLR
};

/// What a GradScaler tells a step, as 0-dim float32 arrays on any device, which are copied to that
/// of the parameters. The kernels read them there: the host does not learn the outcome, and waits
/// only where they have to come from a GPU to the CPU.
struct StepControl {
  /// Gradients are multiplied by it and stay so: once for each parameter that holds them.
  const Array* inv_scale = nullptr;
  /// Not zero (NaN and negative included): parameters, gradients, moments and step counts keep
  /// every bit.
  const Array* found_inf = nullptr;
};

/// What an optimizer remembers of one parameter: "step" (0-dim float32, the number of updates made)
/// and moments of the parameter's shape and dtype; where there are amp::MasterWeights also "master"
/// and "overflows" (0-dim int64), and the moments are float32.
using ParamState = std::map<std::string, Array>;

/// A name in an optimizer's ParamState.
struct StateEntry {
  std::string name;
  bool is_required = true;  ///< there for every parameter that has been updated
  /// For a 0-dim float32 entry: its value where a saved state holds other entries but not this one.
  std::optional<double> if_missing = {};
};

/// A copy of everything an optimizer remembers, for checkpoints. Parameters are numbered in their
/// order, from one group to the next. Truth values are 0 and 1; betas are "beta1" and "beta2".
struct OptimizerState {
  struct Group {
    std::vector<std::int64_t> params;
    std::map<std::string, double> options;
  };
  std::map<std::int64_t, ParamState> state;
  std::vector<Group> param_groups;
  std::int64_t steps = 0;  ///< Optimizer::steps()
  Array skipped_steps{};   ///< and skipped_steps()
};

/// Updates parameters in place from their gradients. Parameters without a gradient are left alone
/// and get no state.
///
/// Step counts and options live on the device, and step() does not wait for it, so that a Graph may
/// capture it: every replay follows the options that param_groups() then holds, without waiting.
/// What decides which kernels run (momentum 0 or not, amsgrad) stays as captured, and so do the
/// addresses of parameters and state: capture again after load_state_dict(). The optimizer must
/// outlive the graph.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update. `closure`, if given, is called first, with gradients enabled, to compute the loss
  /// and its gradients; its result is returned. Throws std::runtime_error, and changes nothing, for
  /// gradients known to carry a GradScaler's scale, and std::invalid_argument for the gradient of a
  /// parameter of whole numbers.
  std::optional<Tensor> step(const std::function<Tensor()>& closure = nullptr);

  /// One update under a GradScaler's control. Throws std::invalid_argument as above.
  void step(const StepControl& control);

  /// Throws std::runtime_error, beginning with `method`, where step() would because of a
  /// set_step_guard(). GradScaler asks before it looks at gradients.
  void expect_step_allowed(const char* method) const;
  /// For a wrapper that runs the steps itself: `guard`, called at the beginning of each step with
  /// the name of the method, throws for a step that is not the wrapper's. An empty one ends that.
  void set_step_guard(std::function<void(const char* method)> guard) {
    step_guard_ = std::move(guard);
  }

  /// How often step() was called, before a state_dict() that was loaded included.
  std::int64_t steps() const { return steps_; }
  /// How many of those found_inf turned into nothing: int64, 0-dim, where found_inf lies. Undefined
  /// before the first step that has one.
  const Array& skipped_steps() const { return skipped_steps_; }

  /// Drops the gradients, or overwrites them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Options may be changed between steps.
  std::vector<ParamGroup>& param_groups() { return groups_; }
  const std::vector<ParamGroup>& param_groups() const { return groups_; }

  /// Of all groups, in the order in which state_dict() numbers them.
  std::vector<Tensor> parameters() const;

  /// A parameter listed twice in the group is kept once, with a warning on stderr. Throws
  /// std::invalid_argument for a tensor that is not a leaf or is in another group already, and for
  /// an option that is out of range or that this optimizer does not have.
  void add_param_group(ParamGroup group);

  /// Empty for a parameter that has not been updated yet. The arrays are the optimizer's own.
  const ParamState& state(const Tensor& param) const;
  ParamState& state(const Tensor& param) { return state_[param.impl()]; }

  OptimizerState state_dict() const;

  /// Takes over a state_dict(): options as they are, moments converted to each parameter's dtype
  /// and device. Throws std::invalid_argument, and changes nothing, when groups, numbers of
  /// parameters or shapes differ, for options out of range (any learning rate will do: a schedule
  /// may have set it), and for a parameter's state that lacks an entry or has one that is not this
  /// optimizer's. A parameter without saved state begins anew. One that has an amp::MasterWeights'
  /// master keeps one: the saved, or where there is none a new one with the parameter's values.
  void load_state_dict(const OptimizerState& saved);

  using StepHook = std::function<void(Optimizer&)>;
  HookHandle register_step_pre_hook(StepHook hook);
  HookHandle register_step_post_hook(StepHook hook);
  /// For the end of load_state_dict().
  HookHandle register_load_state_dict_post_hook(StepHook hook);

  /// "SGD", "Adam", "AdamW".
  const std::string& name() const { return name_; }

 protected:
  /// `defaults` holds the options that this optimizer has.
  Optimizer(std::string name, ParamGroup defaults);

  /// For constructors. Throws std::invalid_argument when there is no group or no parameter.
  void add_param_groups(std::vector<ParamGroup> groups);
  void add_params(std::vector<Tensor> params);

  /// Throws std::invalid_argument naming the option that is out of range.
  virtual void check_options(const ParamGroup& group) const = 0;

  /// What update() keeps of a parameter under the group's options, and what it may have kept under
  /// others.
  virtual std::vector<StateEntry> state_entries(const ParamGroup& group) const = 0;

  /// Updates the group's parameters that have a gradient; all are on one device, as `control` is. A
  /// group on several devices comes in parts. `options` is device memory: what the numbers in
  /// `group` are when the kernels run.
  virtual void update(const ParamGroup& group, const detail::GroupOptions* options,
                      const StepControl& control) = 0;

 private:
  using Hooks = std::map<std::uint64_t, StepHook>;
  HookHandle add_hook(const std::shared_ptr<Hooks>& hooks, StepHook hook);
  void run_hooks(const Hooks& hooks);
  void update_groups(const StepControl& control);
  void update_group(const ParamGroup& group, const detail::DeviceOptions& options,
                    const StepControl& control);
  void send_options();

  std::string name_;
  ParamGroup defaults_;
  std::vector<ParamGroup> groups_;
  std::vector<detail::DeviceOptions> options_;  // by group
  std::unordered_map<std::shared_ptr<detail::TensorImpl>, ParamState> state_;
  std::shared_ptr<Hooks> pre_hooks_ = std::make_shared<Hooks>();
  std::shared_ptr<Hooks> post_hooks_ = std::make_shared<Hooks>();
  std::shared_ptr<Hooks> load_hooks_ = std::make_shared<Hooks>();
  std::uint64_t next_hook_ = 0;
  std::function<void(const char*)> step_guard_;
  std::int64_t steps_ = 0;
  Array skipped_steps_;
};

}  // namespace halfgrad::optim

namespace halfgrad::detail {

// Names in ParamState.
inline constexpr const char* kMaster = "master";
inline constexpr const char* kOverflows = "overflows";

}  // namespace halfgrad::detail
