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
#include <halfgrad/optim/optimizer_state.h>
#include <halfgrad/optim/own_options.h>
#include <halfgrad/optim/param_group.h>
#include <halfgrad/optim/step_count.h>

namespace halfgrad::detail {

class LateUpdates;

}  // namespace halfgrad::detail

namespace halfgrad::optim {

/// A GradScaler's inputs to a step, as 0-dim float32 arrays on any device. They are copied to the
/// device of the parameters, where the kernels read them. The host does not read them, and waits
/// only for a copy from a GPU to the CPU.
struct StepControl {
  /// Multiplies the gradients in place, once for each parameter that holds them. Null: no
  /// unscaling.
  const Array* inv_scale = nullptr;
  /// If not zero (NaN and negative included), parameters, gradients, moments and step counts keep
  /// every bit.
  const Array* found_inf = nullptr;
  /// Multiplies the gradients after inv_scale: the factor of clipping. A gradient that is still
  /// narrow (autograd/graph/narrow_gradient.h) stays so, and gets both factors when something
  /// reads it.
  const Array* clip = nullptr;
  /// Both factors, float32 [2], on one device; not null if `clip` is not.
  const Array* factors = nullptr;
  /// The device of all gradients, if a kernel has advanced the step counts that
  /// prepare_counted_step() stored. Always set with `clip`.
  std::optional<Device> counted_on = {};
  /// Bias corrections of the group's StepCounts, if a kernel has counted the step. Null: update()
  /// counts it.
  const Array* corrections = nullptr;
  /// Set by the optimizer, after set_late_updates().
  detail::LateUpdates* late = nullptr;
};

/// Updates parameters in place from their gradients. Parameters without a gradient stay unchanged
/// and get no state.
///
/// Step counts and options are kept on the device, and step() does not wait for it, so a Graph may
/// capture it: every replay reads the options that param_groups() then holds, without waiting. The
/// choice of kernels (momentum 0 or not, amsgrad) and the addresses of parameters and state stay as
/// captured: capture again after load_state_dict(). The optimizer must outlive the graph.
///
/// An optimizer of your own has one of two forms. Like those of the library, it overrides
/// check_options(), state_entries() and update(). Or, as in libtorch, it hands the constructor
/// options of a class of its own (own_options.h) and overrides step(closure). A GradScaler then
/// reads found_inf on the host, unscales the gradients in place, and calls step(). A Graph cannot
/// capture such a step, and state_dict() throws: override save() and load().
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  using LossClosure = std::function<Tensor()>;

  /// Makes one update. Calls `closure` first, if given, with gradients enabled, to compute the loss
  /// and its gradients, and returns its result; without a closure an undefined tensor. Throws
  /// std::runtime_error for gradients known to carry a GradScaler's scale. Throws
  /// std::invalid_argument for the gradient of an integer parameter, and for a gradient or a state
  /// of another shape than its parameter. After an exception nothing has changed.
  virtual Tensor step(LossClosure closure = nullptr);

  /// Makes one update under a GradScaler's control. Throws std::invalid_argument as above.
  void step(const StepControl& control);

  /// Prepares a step with StepControl::counted_on: stores in `counts` what the kernel that checks
  /// the gradients has to advance, in the order of the parameters that have a gradient. All of them
  /// are on `device`. Returns false if this optimizer needs its own kernels for that, or has a
  /// pre-step hook, which might change gradients.
  bool prepare_counted_step(Device device, std::vector<detail::StepCount>& counts);

  /// Throws std::runtime_error, beginning with `method`, if the guard of set_step_guard() refuses a
  /// step. GradScaler calls it before it looks at gradients.
  void expect_step_allowed(const char* method) const;
  /// Throws std::invalid_argument, beginning with `method`, if a gradient, a moment or a master has
  /// another shape than its parameter, as after set_data() with other sizes. Every step and every
  /// call of a GradScaler begins with this check.
  void expect_sizes(const char* method) const;
  /// For a wrapper that runs the steps itself: each step begins with a call of `guard`, which gets
  /// the name of the method and throws if the step is not the wrapper's. An empty guard removes it.
  void set_step_guard(std::function<void(const char* method)> guard) {
    step_guard_ = std::move(guard);
  }

  /// True if the update of an element reads nothing of other elements, so that a rank can make it
  /// for a part of a parameter.
  virtual bool is_elementwise() const { return false; }
  /// For a wrapper whose ranks hold parts of the parameters: a GradScaler then throws unless it
  /// combines found_inf over ranks.
  void set_sharded(bool is_sharded = true) { is_sharded_ = is_sharded; }
  bool is_sharded() const { return is_sharded_; }

  /// Lets step() return before large parameters are updated. A second stream updates them, in a
  /// launch for each layer, and their next use waits for it. So the forward pass of the first
  /// layers runs beside the update of the later ones, with the same bits: in a Graph of several
  /// steps, and in eager training on a GPU. A layer is a parameter of two or more dimensions and
  /// the smaller ones that follow it. Layers share a launch until it has `min_elements` elements,
  /// and a smaller last one is updated as usual: a short update is not worth a launch (2^20
  /// elements of Adam take 9 us at 3.35 TB/s).
  ///
  /// Stream, Event and Graph of this library wait for such an update as for other work of the
  /// stream that called step(). CUDA calls of your own do not, and Array::data() and
  /// const_data_ptr() give an address for use before the next step() only. Gradients live until the
  /// parameter's next use. Does nothing on the CPU, for parameters and gradients whose address was
  /// asked for (data_ptr(), from_blob()), and unless is_elementwise(). Throws std::invalid_argument
  /// unless min_elements >= 1.
  void set_late_updates(bool enabled = true, std::int64_t min_elements = std::int64_t{1} << 20);
  bool has_late_updates() const { return late_ != nullptr; }

  /// Number of calls of step(), including those before a state_dict() that was loaded.
  std::int64_t steps() const { return steps_; }
  /// Number of steps that found_inf skipped: int64, 0-dim, on found_inf's device. Undefined before
  /// the first step with a found_inf.
  const Array& skipped_steps() const { return skipped_steps_; }

  /// Drops the gradients, or overwrites them with zeros.
  void zero_grad(bool set_to_none = true);

  /// Options may be changed between steps.
  std::vector<ParamGroup>& param_groups() { return param_groups_; }
  const std::vector<ParamGroup>& param_groups() const { return param_groups_; }
  /// Default options of a class of your own. Throws std::logic_error if the optimizer has none.
  OptimizerOptions& defaults() const;
  bool has_own_options() const { return defaults_ != nullptr; }

  /// The parameters of all groups, in the order of state_dict()'s indices.
  std::vector<Tensor> parameters() const;
  std::size_t size() const { return parameters().size(); }

  /// Adds a group. Keeps a parameter once that is listed twice in it, with a warning on stderr.
  /// Throws std::invalid_argument for a tensor that is not a leaf or is already in a group. Throws
  /// it for an option that is out of range or that this optimizer does not have, too.
  void add_param_group(ParamGroup group);
  /// Adds parameters to the first group. Throws std::invalid_argument as add_param_group().
  void add_parameters(const std::vector<Tensor>& parameters);

  /// The optimizer's own arrays for a parameter; empty before its first update.
  const ParamState& state(const Tensor& param) const;
  ParamState& state(const Tensor& param) { return states_[param.impl()]; }

  /// State of classes of your own, by `param.unsafeGetTensorImpl()`, for an optimizer in libtorch's
  /// form. Throw std::logic_error for other optimizers, whose states are state(param).
  using OwnStates = std::unordered_map<void*, std::unique_ptr<OptimizerParamState>>;
  OwnStates& state();
  const OwnStates& state() const;

  OptimizerState state_dict() const;

  /// Loads a state_dict(): options unchanged, moments converted to each parameter's dtype and
  /// device. A parameter without saved state starts again without state. A parameter with a master
  /// of amp::MasterWeights gets the saved one or, if there is none, a new one with its present
  /// values. A float32 or float64 parameter is its own master: it keeps its values, as in PyTorch,
  /// and a saved master is dropped.
  ///
  /// Throws std::invalid_argument, and changes nothing, if groups, numbers of parameters or shapes
  /// differ, or an option is out of range (learning rates may be: a schedule may have set them).
  /// Throws it for counts that are no 0-dim arrays of exact values, and for a parameter's state
  /// with a missing or an unknown entry, too.
  void load_state_dict(const OptimizerState& saved);

  /// Write and read everything that state_dict() has, as torch::save() and torch::load() do
  /// (compat/serialize.h). Throw std::logic_error if the optimizer has options of its own and does
  /// not override them.
  virtual void save(serialize::OutputArchive& archive) const;
  virtual void load(serialize::InputArchive& archive);

  using StepHook = std::function<void(Optimizer&)>;
  HookHandle register_step_pre_hook(StepHook hook);
  HookHandle register_step_post_hook(StepHook hook);
  /// Runs the hook at the end of load_state_dict().
  HookHandle register_load_state_dict_post_hook(StepHook hook);

  /// The name of the class, such as "AdamW".
  const std::string& name() const { return name_; }

 protected:
  /// `defaults` sets exactly the options that this optimizer has.
  Optimizer(std::string name, ParamGroup defaults);
  /// For libtorch's form: the options of groups that have none. name() is the name of their class
  /// without "Options". Throw std::invalid_argument as add_param_group().
  Optimizer(std::vector<ParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults);
  Optimizer(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> defaults);
  template <GroupLike Group>
  Optimizer(const std::vector<Group>& groups, std::unique_ptr<OptimizerOptions> defaults)
      : Optimizer(std::vector<ParamGroup>(groups.begin(), groups.end()), std::move(defaults)) {}

  /// For constructors. Throws std::invalid_argument if there is no group or no parameter.
  void add_param_groups(std::vector<ParamGroup> groups);
  void add_params(std::vector<Tensor> params);

  /// Throws std::invalid_argument naming the option that is out of range.
  virtual void check_options(const ParamGroup& /*group*/) const {}

  /// The entries of a parameter's state that update() may make: required ones under the group's
  /// options, others under different options.
  virtual std::vector<StateEntry> state_entries(const ParamGroup& group) const;

  /// Stores the step counts of the group's parameters that have a gradient, and the memory of their
  /// corrections. The default returns false: update() counts steps itself.
  virtual bool add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                               std::vector<detail::StepCount>& counts, Array& corrections);

  /// Makes the update of step() between the hooks, without gradients. The default calls `closure`,
  /// if given, and update()s every group.
  virtual std::optional<Tensor> run_step(const std::function<Tensor()>& closure);
  /// For an override of run_step() that does not call the default.
  void count_step() { ++steps_; }

  /// Updates the group's parameters that have a gradient. All are on one device, as `control` is: a
  /// group on several devices is updated in parts. `options` is device memory that holds the
  /// options of `group` when the kernels run. The default throws std::logic_error.
  virtual void update(const ParamGroup& group, const detail::GroupOptions* options,
                      const StepControl& control);

  std::vector<ParamGroup> param_groups_;
  OwnStates state_;
  std::unique_ptr<OptimizerOptions> defaults_;

 private:
  using Hooks = std::map<std::uint64_t, StepHook>;
  HookHandle add_hook(const std::shared_ptr<Hooks>& hooks, StepHook hook);
  void run_hooks(const Hooks& hooks);
  bool prepare_counts(Device device, std::vector<detail::StepCount>& counts);
  StepControl control_of_gradients();
  void update_groups(const StepControl& control);
  void update_group(const ParamGroup& group, const detail::DeviceOptions& options,
                    const StepControl& control);
  StepControl with_late(const detail::DeviceOptions& options, Device device,
                        StepControl control) const;
  void send_options();
  void expect_no_own_options(const char* method) const;
  void fill_own_options(ParamGroup& group) const;
  void step_own(const StepControl& control);
  void keep_skipped_steps_on(Device device);

  std::string name_;
  ParamGroup preset_;
  std::vector<detail::DeviceOptions> options_;  // by group
  std::vector<Array> corrections_;              // by group, for a counted step
  std::unordered_map<std::shared_ptr<detail::TensorImpl>, ParamState> states_;
  std::shared_ptr<Hooks> pre_hooks_ = std::make_shared<Hooks>();
  std::shared_ptr<Hooks> post_hooks_ = std::make_shared<Hooks>();
  std::shared_ptr<Hooks> load_hooks_ = std::make_shared<Hooks>();
  std::uint64_t next_hook_ = 0;
  std::function<void(const char*)> step_guard_;
  std::int64_t steps_ = 0;
  bool is_sharded_ = false;
  std::shared_ptr<detail::LateUpdates> late_;
  Array skipped_steps_;
};

}  // namespace halfgrad::optim

namespace halfgrad::detail {

// Entries that amp::MasterWeights adds to a ParamState.
inline constexpr const char* kMaster = "master";
inline constexpr const char* kOverflows = "overflows";

}  // namespace halfgrad::detail
