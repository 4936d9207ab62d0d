#include <halfgrad/async/async_grad_scaler.h>

#include <stdexcept>

#include <halfgrad/core/fail.h>

namespace halfgrad::amp {
namespace {

GradScalerOptions without_history(GradScalerOptions options) {
  options.history = 0;
  return options;
}

}  // namespace

AsyncGradScaler::AsyncGradScaler(optim::AsyncOptimizer& optimizer, const GradScalerOptions& options)
    : optimizer_(optimizer), options_(options), main_(options), losses_(without_history(options)) {
  main_.scale(Tensor(Array::full({}, 1, kFloat)));  // makes its state, on the CPU
  main_.abandon();                                  // takes that loss out of the log
  scale_ = next_scale_ = main_.get_scale();
  publish_factors();
}

AsyncGradScaler::~AsyncGradScaler() { optimizer_.thread().drain(); }

Tensor AsyncGradScaler::scale(const Tensor& outputs) {
  if (in_step_function()) return main_.scale(outputs);
  optimizer_.set_gradient_scale(scale_);
  return losses_.scale(outputs);
}

std::vector<Tensor> AsyncGradScaler::scale(const std::vector<Tensor>& outputs) {
  std::vector<Tensor> scaled;
  for (const Tensor& output : outputs) scaled.push_back(scale(output));
  return scaled;
}

void AsyncGradScaler::unscale_(optim::Optimizer& optimizer) {
  if (!is_enabled()) return;
  if (in_step_function()) {
    adopt_scale();
    return main_.unscale_(optimizer);
  }
  optimizer_.accumulate();
  optimizer_.thread().launch([&] { unscale_(optimizer); });
  optimizer_.thread().wait();
}

StepOutcome AsyncGradScaler::step(optim::Optimizer& optimizer) {
  if (in_step_function()) {
    adopt_scale();
    return main_.step(optimizer);
  }
  std::optional<StepOutcome> outcome;
  optimizer_.step([&](optim::Optimizer&) { outcome = step(optimizer); }, /*is_async=*/false);
  return outcome.value();
}

void AsyncGradScaler::update(bool is_async) { launch_update(std::nullopt, is_async); }

void AsyncGradScaler::update(double new_scale, bool is_async) {
  if (is_enabled()) check_scale(new_scale, options_, "update");
  launch_update(new_scale, is_async);
}

void AsyncGradScaler::launch_update(std::optional<double> new_scale, bool is_async) {
  if (!is_enabled()) return;
  if (in_step_function()) {
    detail::fail<std::runtime_error>(
        "update", "expected a call after the optimizer's step(), got one in a step function");
  }
  losses_.expect_scaled_loss("update");
  optim::UpdateThread& thread = optimizer_.thread();
  thread.wait(last_update_);
  use_for_losses(next_scale_);
  last_update_ = thread.launch([this, new_scale, is_async] { run_update(new_scale, is_async); });
  if (is_async) return;
  thread.wait(last_update_);
  use_for_losses(next_scale_);
}

void AsyncGradScaler::use_for_losses(double scale) {
  scale_ = scale;
  losses_.set_scale(scale);
}

// Makes main_ check and unscale gradients by the scale that they carry.
void AsyncGradScaler::adopt_scale() {
  const std::optional<optim::GradientScale> carried = optimizer_.take_gradient_scale();
  if (!carried || !is_enabled()) return;
  main_.set_scale(carried->value, carried->id);
}

// s(k+2) = u(s(k+1), inf(k)): see the header. main_ holds inf(k), and updates from the scale that
// its last update made, s(k+1). The losses of iteration k+1 have that scale, so main_ keeps it.
void AsyncGradScaler::run_update(std::optional<double> new_scale, bool is_async) {
  const double of_losses = next_scale_;
  new_scale ? main_.update(*new_scale) : main_.update();
  next_scale_ = main_.get_scale();
  if (is_async) main_.set_scale(of_losses);
}

void AsyncGradScaler::abandon() {
  if (!is_enabled()) return;
  if (in_step_function()) return main_.abandon();
  optimizer_.thread().launch([this] { main_.abandon(); });
}

double AsyncGradScaler::get_scale() const {
  return in_step_function() ? main_.get_scale() : scale_;
}

void AsyncGradScaler::complete(bool needed) const {
  if (needed && is_enabled() && !in_step_function()) optimizer_.thread().wait();
}

double AsyncGradScaler::get_growth_factor(bool up_to_date) const {
  complete(up_to_date);
  return growth_factor_;
}

double AsyncGradScaler::get_backoff_factor(bool up_to_date) const {
  complete(up_to_date);
  return backoff_factor_;
}

std::int32_t AsyncGradScaler::get_growth_interval(bool up_to_date) const {
  complete(up_to_date);
  return growth_interval_;
}

void AsyncGradScaler::set_growth_factor(double growth_factor) {
  set([=](GradScaler& scaler) { scaler.set_growth_factor(growth_factor); });
}

void AsyncGradScaler::set_backoff_factor(double backoff_factor) {
  set([=](GradScaler& scaler) { scaler.set_backoff_factor(backoff_factor); });
}

void AsyncGradScaler::set_growth_interval(std::int32_t growth_interval) {
  set([=](GradScaler& scaler) { scaler.set_growth_interval(growth_interval); });
}

void AsyncGradScaler::set(const std::function<void(GradScaler&)>& change) {
  GradScaler checked(options_);
  change(checked);
  const auto apply = [this, change] {
    change(main_);
    publish_factors();
  };
  if (in_step_function()) return apply();
  if (is_enabled()) {
    optimizer_.thread().launch(apply);
  } else {
    optimizer_.thread().drain();  // a step function may be running
    apply();
  }
}

void AsyncGradScaler::publish_factors() {
  growth_factor_ = main_.get_growth_factor();
  backoff_factor_ = main_.get_backoff_factor();
  growth_interval_ = main_.get_growth_interval();
}

std::int32_t AsyncGradScaler::get_growth_tracker() const {
  complete();
  return main_.get_growth_tracker();
}

GradScalerCounts AsyncGradScaler::counts() const {
  complete();
  return main_.counts();
}

std::vector<StepReport> AsyncGradScaler::reports() const {
  complete();
  return main_.reports();
}

GradScalerState AsyncGradScaler::state_dict() const {
  if (!is_enabled()) return {};
  complete();
  GradScalerState state = main_.state_dict();
  state["scale"] = scale_;
  state["_next_scale"] = next_scale_;
  return state;
}

void AsyncGradScaler::load_state_dict(const GradScalerState& state) {
  if (!is_enabled()) return;
  const auto next = state.find("_next_scale");
  complete();
  main_.load_state_dict(state);
  losses_.load_state_dict(state);
  scale_ = main_.get_scale();
  next_scale_ = next != state.end() ? next->second : scale_;
  publish_factors();
}

std::map<std::string, Array> AsyncGradScaler::records() const {
  complete();
  return main_.records();
}

void AsyncGradScaler::load_records(const std::map<std::string, Array>& records) {
  complete();
  main_.load_records(records);
}

void AsyncGradScaler::check_records(const std::map<std::string, Array>& records) const {
  complete();
  main_.check_records(records);
}

}  // namespace halfgrad::amp
