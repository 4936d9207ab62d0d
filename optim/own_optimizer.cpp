#include <halfgrad/optim/own_options.h>

#include <atomic>
#include <stdexcept>

#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/type_name.h>
#include <halfgrad/optim/optimizer.h>

/// Optimizers with options of their own, in libtorch's form.
namespace halfgrad {
namespace detail {
namespace {

std::atomic<decltype(OptimizerArchiving::save)> save_function{};
std::atomic<decltype(OptimizerArchiving::load)> load_function{};

}  // namespace

void set_optimizer_archiving(const OptimizerArchiving& archiving) {
  save_function = archiving.save;
  load_function = archiving.load;
}

}  // namespace detail

namespace optim {
namespace {

[[noreturn]] void fail_override(const std::type_info& type, const char* function) {
  detail::fail<std::logic_error>(detail::class_name(type), "expected an override of {}, got none",
                                 function);
}

// "MySGD" for MySGDOptions.
std::string optimizer_name(const std::unique_ptr<OptimizerOptions>& defaults) {
  if (defaults == nullptr) detail::fail("Optimizer", "expected default options, got none{}", "");
  const OptimizerOptions& options = *defaults;
  std::string name = detail::class_name(typeid(options));
  const std::string ending = "Options";
  if (name.size() > ending.size() && name.ends_with(ending))
    name.resize(name.size() - ending.size());
  return name;
}

}  // namespace

double OptimizerOptions::get_lr() const { fail_override(typeid(*this), "get_lr()"); }
void OptimizerOptions::set_lr(double) { fail_override(typeid(*this), "set_lr()"); }
void OptimizerOptions::serialize(serialize::OutputArchive&) const {
  fail_override(typeid(*this), "serialize(OutputArchive&)");
}
void OptimizerOptions::serialize(serialize::InputArchive&) {
  fail_override(typeid(*this), "serialize(InputArchive&)");
}
void OptimizerParamState::serialize(serialize::OutputArchive&) const {
  fail_override(typeid(*this), "serialize(OutputArchive&)");
}
void OptimizerParamState::serialize(serialize::InputArchive&) {
  fail_override(typeid(*this), "serialize(InputArchive&)");
}

ParamGroup OptimizerOptions::with(std::vector<Tensor> params) const {
  ParamGroup group{.params = std::move(params)};
  group.own_options = clone();
  return group;
}

Optimizer::Optimizer(std::vector<ParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)), name_(optimizer_name(defaults_)) {
  add_param_groups(std::move(groups));
}

Optimizer::Optimizer(std::vector<Tensor> params, std::unique_ptr<OptimizerOptions> defaults)
    : defaults_(std::move(defaults)), name_(optimizer_name(defaults_)) {
  add_params(std::move(params));
}

OptimizerOptions& Optimizer::defaults() const {
  if (defaults_ != nullptr) return *defaults_;
  detail::fail<std::logic_error>("defaults",
                                 "expected an optimizer with options of its own, got {}; read "
                                 "param_groups()[0].options()",
                                 name_);
}

const Optimizer::OwnStates& Optimizer::state() const {
  if (defaults_ != nullptr) return state_;
  detail::fail<std::logic_error>("state",
                                 "expected an optimizer with options of its own, got {}; its state "
                                 "of a parameter is state(parameter)",
                                 name_);
}

Optimizer::OwnStates& Optimizer::state() {
  return const_cast<OwnStates&>(std::as_const(*this).state());
}

// A group without options gets copies of the defaults.
void Optimizer::fill_own_options(ParamGroup& group) const {
  const OptimizerOptions* const given = group.own_options.get();
  if (given == nullptr) {
    if (defaults_ != nullptr) group.own_options = defaults_->clone();
    return;
  }
  if (defaults_ != nullptr) {
    const OptimizerOptions& own = *defaults_;
    if (typeid(own) == typeid(*given)) return;
  }
  detail::fail(name_, "expected a group with its own options, got {}",
               detail::class_name(typeid(*given)));
}

void Optimizer::expect_no_own_options(const char* method) const {
  if (!has_own_options()) return;
  detail::fail<std::logic_error>(method,
                                 "expected an optimizer without options of its own, got {}; call "
                                 "its save() and load()",
                                 name_);
}

void Optimizer::step_own(const StepControl& control) {
  const auto value = [](const Array* scalar) { return Tensor(*scalar).to(kCPU).item<double>(); };
  if (control.found_inf != nullptr) {
    const bool is_skipped = value(control.found_inf) != 0;
    if (!skipped_steps_.defined()) keep_skipped_steps_on(kCPU);
    if (is_skipped) skipped_steps_.fill_(skipped_steps_.item() + 1);
    count_step();
    if (is_skipped) return;
  }
  for (const Array* const factor : {control.inv_scale, control.clip}) {
    if (factor == nullptr) continue;
    for (const Tensor& param : parameters()) {
      if (param.grad().defined()) param.grad().mul_(value(factor));
    }
  }
  step(nullptr);
}

void Optimizer::save(serialize::OutputArchive& archive) const {
  const auto save = detail::save_function.load();
  if (defaults_ != nullptr || save == nullptr) fail_override(typeid(*this), "save()");
  save(archive, *this);
}

void Optimizer::load(serialize::InputArchive& archive) {
  const auto load = detail::load_function.load();
  if (defaults_ != nullptr || load == nullptr) fail_override(typeid(*this), "load()");
  load(archive, *this);
}

std::vector<StateEntry> Optimizer::state_entries(const ParamGroup&) const { return {}; }

void Optimizer::update(const ParamGroup&, const detail::GroupOptions*, const StepControl&) {
  fail_override(typeid(*this), "update()");
}

}  // namespace optim
}  // namespace halfgrad
