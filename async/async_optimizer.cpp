#include <halfgrad/async/async_optimizer.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::optim {
namespace {

DType host_dtype(DType model) {
  return is_floating_point(model) && item_size(model) < 4 ? DType::f32 : model;
}

// The device of the first parameter.
Device device_of(const Optimizer& optimizer) {
  for (const ParamGroup& group : optimizer.param_groups()) {
    if (!group.params.empty()) return group.params[0].device();
  }
  return {};
}

bool is_defined(const Tensor& gradient) { return gradient.defined(); }

void refuse_mixed(const Tensor& gradient, const char* method) {
  if (!gradient.defined() || detail::scale_id(gradient) != detail::kMixedScales) return;
  detail::fail<std::runtime_error>(method,
                                   "expected gradients of one scale, got a sum of scaled and other "
                                   "gradients; scale() every loss");
}

template <class F>
void report_failure(const F& f) {
  try {
    f();
  } catch (const std::exception& error) {
    std::cerr << "halfgrad: AsyncOptimizer: " << error.what() << '\n';
  } catch (...) {
    std::cerr << "halfgrad: AsyncOptimizer: an exception that is no std::exception\n";
  }
}

std::int64_t count_nonfinite(const Array& array) {
  const Tensor tensor(array);
  return tensor.numel() - isfinite(tensor).sum().item<std::int64_t>();
}

}  // namespace

AsyncOptimizer::AsyncOptimizer(Optimizer& optimizer, std::shared_ptr<UpdateThread> thread)
    : optimizer_(optimizer),
      device_(device_of(optimizer)),
      refuse_scaled_(nullptr),
      thread_(std::move(thread)) {
  const OptimizerState state = optimizer.state_dict();
  for (const ParamGroup& group : optimizer.param_groups()) {
    for (const Tensor& model : group.params) {
      if (std::as_const(optimizer).state(model).contains(detail::kMaster)) {
        detail::fail("AsyncOptimizer",
                     "expected an optimizer without MasterWeights, got one that has them; its "
                     "parameters are float32 on the host in any case");
      }
      if (model.device() != device_) {
        detail::fail("AsyncOptimizer", "expected parameters on {}, as the first is, got one on {}",
                     device_, model.device());
      }
      Tensor host(host_copy(model, host_dtype(model.dtype())));
      host.requires_grad_(model.requires_grad());
      const Array rounded =
          host.dtype() == model.dtype() ? host.array() : host_copy(model, model.dtype());
      parameters_.push_back({model, host, rounded, 0, model._version()});
    }
  }
  current_stream(device_).synchronize();  // updates may follow on any stream
  auto parameter = parameters_.begin();
  for (ParamGroup& group : optimizer.param_groups()) {
    for (Tensor& param : group.params) param = parameter++->host;
  }
  optimizer.load_state_dict(state);
  optimizer.set_step_guard([this](const char* method) { expect_step_function(method); });
  refuse_scaled_ = optimizer.register_step_pre_hook([this](Optimizer&) {
    if (!held_scale_ || held_scale_->value == 1) return;
    detail::fail<std::runtime_error>("step",
                                     "expected gradients without a scale, got gradients {} times "
                                     "too large; let the step function "
                                     "call step() of the scaler that scaled the loss",
                                     held_scale_->value);
  });
}

AsyncOptimizer::~AsyncOptimizer() {
  report_failure([this] { thread_->wait(); });
  report_failure([this] {
    check_unchanged("~AsyncOptimizer");
    write_back();
  });
  optimizer_.set_step_guard(nullptr);
  refuse_scaled_.remove();
  report_failure([this] { give_back_parameters(); });
}

// Outside step functions the host's copies have no gradients, and a step would change nothing.
void AsyncOptimizer::expect_step_function(const char* method) const {
  if (thread_->is_current()) return;
  detail::fail<std::runtime_error>(
      method,
      "expected a call by a step function, since an AsyncOptimizer owns "
      "this {}, got one outside; call AsyncOptimizer::step",
      name());
}

void AsyncOptimizer::step(const StepFunction& step_fn, bool is_async) {
  thread_->wait(last_step_);
  check_unchanged("step");
  if (is_async) write_back();
  last_step_ = thread_->launch([this, gradients = take_gradients("step"), step_fn] {
    add(*gradients);
    update(step_fn);
  });
  written_back_ = false;
  if (!is_async) synchronize();
}

void AsyncOptimizer::accumulate() {
  thread_->launch([this, gradients = take_gradients("accumulate")] { add(*gradients); });
}

void AsyncOptimizer::synchronize() {
  thread_->wait();
  check_unchanged("synchronize");
  write_back();
}

void AsyncOptimizer::copy_from_parameters() {
  thread_->wait();
  written_.synchronize();  // until the last write-back has read `rounded`
  for (Parameter& parameter : parameters_) {
    parameter.host.array().copy_(parameter.model.array());
  }
  current_stream(device_).synchronize();  // updates may follow on any stream
  note_versions();
  written_back_ = true;
}

void AsyncOptimizer::set_gradient_scale(double scale) {
  if (scale == scale_.value) return;
  for (const Parameter& parameter : parameters_) {
    if (!parameter.model.grad().defined()) continue;
    detail::fail<std::runtime_error>(
        "scale",
        "expected gradients of one scale, got scale {} while the model "
        "holds gradients of scale {}; call step() first",
        scale, scale_.value);
  }
  scale_ = {scale, scale == 1 ? detail::kUnknownScale : detail::new_scale_id()};
}

std::optional<GradientScale> AsyncOptimizer::take_gradient_scale() {
  return std::exchange(held_scale_, std::nullopt);
}

// A contiguous copy; pinned if the model is on a GPU, so that transfers run beside the host's work.
Array AsyncOptimizer::host_copy(const Tensor& tensor, DType dtype) const {
  const Array copy = device_.is_cuda() ? Array::empty_pinned(tensor.sizes(), dtype)
                                       : Array::empty(tensor.sizes(), dtype);
  copy.copy_(tensor.array());
  return copy;
}

void AsyncOptimizer::check_unchanged(const char* method) const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    if (parameters_[i].model._version() == parameters_[i].model_version) continue;
    detail::fail<std::runtime_error>(
        method,
        "expected parameters that only the optimizer changes, got another change of parameter {}; "
        "call copy_from_parameters() after loading into the model",
        i);
  }
}

// Called after all parameters were written: slices of one storage share its version.
void AsyncOptimizer::note_versions() {
  for (Parameter& parameter : parameters_) parameter.model_version = parameter.model._version();
}

void AsyncOptimizer::write_back() {
  if (written_back_) return;
  const Stream stream = current_stream(device_);
  stream.wait_event(written_);  // the last write-back may be pending on a different stream
  report_.overflows = 0;
  report_.first_parameter = -1;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Parameter& parameter = parameters_[i];
    parameter.model.array().copy_(parameter.rounded);
    parameter.model.array().storage()->bump_version();
    if (report_.overflows == 0 && parameter.overflows > 0) {
      report_.first_parameter = static_cast<std::int64_t>(i);
    }
    report_.overflows += parameter.overflows;
  }
  note_versions();
  report_.total_overflows += report_.overflows;
  written_.record(stream);
  written_back_ = true;
}

// Copies GPU gradients to the host on the current stream; an event follows the copies. The
// update that waits for it overwrites `rounded`, so the event also follows the last write-back,
// whichever stream that was queued on.
std::shared_ptr<AsyncOptimizer::Gradients> AsyncOptimizer::take_gradients(const char* method) {
  for (const Parameter& parameter : parameters_) refuse_mixed(parameter.model.grad(), method);
  auto gradients = std::make_shared<Gradients>(Gradients{{}, scale_, Event()});
  for (Parameter& parameter : parameters_) {
    Tensor gradient = parameter.model.grad();
    parameter.model.set_grad({});
    if (gradient.defined() && gradient.device() != Device()) {
      gradient = Tensor(host_copy(gradient, gradient.dtype()));
    }
    gradients->by_parameter.push_back(gradient.defined() ? gradient.detach() : gradient);
  }
  current_stream(device_).wait_event(written_);
  gradients->arrived.record(current_stream(device_));
  return gradients;
}

void AsyncOptimizer::add(const Gradients& gradients) {
  try {
    gradients.arrived.synchronize();
  } catch (...) {
    drop_gradients();
    throw;
  }
  if (std::none_of(gradients.by_parameter.begin(), gradients.by_parameter.end(), is_defined))
    return;
  const bool holds_some = std::any_of(parameters_.begin(), parameters_.end(),
                                      [](const auto& p) { return p.host.grad().defined(); });
  const double held = held_scale_.value_or(GradientScale()).value;
  if (holds_some && held != gradients.scale.value) {
    drop_gradients();
    detail::fail<std::runtime_error>("accumulate",
                                     "expected gradients of scale {}, as those accumulated before, "
                                     "got scale {}; all are dropped",
                                     held, gradients.scale.value);
  }
  held_scale_ = gradients.scale;
  const NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const Tensor& gradient = gradients.by_parameter[i];
    if (!gradient.defined()) continue;
    Tensor& host = parameters_[i].host;
    if (!host.grad().defined()) {
      host.set_grad(Tensor(Array::empty(host.sizes(), host.dtype())).copy_(gradient));
    } else {
      host.grad().add_(gradient);
    }
    detail::set_scale_id(host.grad(), gradients.scale.id);
  }
}

void AsyncOptimizer::update(const StepFunction& step_fn) {
  std::exception_ptr failure;
  try {
    step_fn ? step_fn(optimizer_) : static_cast<void>(optimizer_.step());
  } catch (...) {
    failure = std::current_exception();
  }
  drop_gradients();
  round_parameters();
  if (failure != nullptr) std::rethrow_exception(failure);
}

void AsyncOptimizer::drop_gradients() {
  optimizer_.zero_grad();
  held_scale_.reset();
}

void AsyncOptimizer::round_parameters() {
  for (Parameter& parameter : parameters_) {
    const Array& exact = parameter.host.array();
    if (parameter.rounded.dtype() == exact.dtype()) continue;
    parameter.rounded.copy_(exact);
    const std::int64_t infinite = count_nonfinite(parameter.rounded);
    parameter.overflows = infinite > 0 ? infinite - count_nonfinite(exact) : 0;
  }
}

}  // namespace halfgrad::optim
