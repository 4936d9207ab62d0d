#include <halfgrad/optim/lbfgs.h>

#include <algorithm>
#include <cmath>
#include <span>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/lbfgs_history.h>
#include <halfgrad/optim/line_search.h>
#include <halfgrad/optim/usual_options.h>

namespace halfgrad::optim {
namespace {

double largest(const Tensor& x) { return abs(x).amax().item(); }

// All parameters as one vector, and the closure as a function of it.
class Problem {
 public:
  Problem(const ParamGroup& group, const std::function<Tensor()>& closure)
      : params_(group.params), closure_(closure), sign_(group.maximize.value() ? -1 : 1) {}

  // The loss of the last evaluation is kept for step()'s result.
  double evaluate() {
    {
      const EnableGradGuard enable_grad;
      loss = closure_();
    }
    ++evaluations;
    return sign_ * loss.item();
  }

  Tensor gradient() const {
    std::vector<Tensor> parts;
    if (params_.empty()) return zeros({0});
    for (const Tensor& param : params_) {
      const Tensor grad = param.grad();
      if (grad.defined()) {
        halfgrad::detail::expect_unscaled(std::span(&grad, 1), "step", "compute an unscaled loss");
      }
      parts.push_back(grad.defined() ? grad.reshape({-1})
                                     : zeros({param.numel()}, {param.dtype(), param.device()}));
    }
    return cat(parts) * sign_;
  }

  void move(double t, const Tensor& d) const {
    std::int64_t offset = 0;
    for (const Tensor& param : params_) {
      param.add_(narrow(d, 0, offset, param.numel()).reshape(param.sizes()), t);
      offset += param.numel();
    }
  }

  halfgrad::detail::LineSearchResult search(const halfgrad::detail::TrialPoint& start, double t,
                                            const Tensor& d, double tolerance_change,
                                            std::int64_t max_evaluations) {
    std::vector<Tensor> origin;
    for (const Tensor& param : params_) origin.push_back(param.clone());
    const auto trial = [&](double length) -> halfgrad::detail::TrialPoint {
      move(length, d);
      const double value = evaluate();
      const Tensor g = gradient();
      for (std::size_t i = 0; i < origin.size(); ++i) params_[i].copy_(origin[i]);
      return {length, value, g, dot(g, d).item()};
    };
    return halfgrad::detail::strong_wolfe(trial, start, t, largest(d), tolerance_change,
                                          max_evaluations);
  }

  Tensor loss;
  std::int64_t evaluations = 0;

 private:
  std::vector<Tensor> params_;
  const std::function<Tensor()>& closure_;
  double sign_;
};

}  // namespace

LBFGS::LBFGS(const LBFGSArguments& options)
    : Optimizer("LBFGS", {.lr = options.lr, .maximize = options.maximize}), options_(options) {
  using detail::check_option;
  const auto expect_count = [this](std::int64_t value, const char* expected) {
    check_option(value >= 0, name(), expected, static_cast<double>(value));
  };
  expect_count(options.max_iter, "max_iter >= 0");
  expect_count(options.max_eval.value_or(0), "max_eval >= 0");
  expect_count(options.history_size, "history_size >= 0");
  if (!options_.max_eval) options_.max_eval = options.max_iter * 5 / 4;
}

LBFGS::LBFGS(std::vector<Tensor> params, const LBFGSArguments& options) : LBFGS(options) {
  add_params(std::move(params));
}

LBFGS::LBFGS(std::vector<ParamGroup> groups, const LBFGSArguments& options) : LBFGS(options) {
  add_param_groups(std::move(groups));
}

void LBFGS::check_options(const ParamGroup& group) const {
  detail::check_usual_options(name(), group);
  const auto is_same = [](const Tensor& a, const Tensor& b) { return a.is_same(b); };
  if (!param_groups().empty() &&
      !std::ranges::equal(param_groups()[0].params, group.params, is_same)) {
    halfgrad::detail::fail(name(), "expected one group of parameters, got a second one");
  }
  for (const Tensor& param : group.params) {
    if (param.dtype() != DType::f32 && param.dtype() != DType::f64) {
      halfgrad::detail::fail(name(), "expected float32 or float64 parameters, got {}",
                             param.dtype());
    }
    if (param.dtype() != group.params[0].dtype() || param.device() != group.params[0].device()) {
      halfgrad::detail::fail(name(), "expected parameters of one dtype on one device, got {} on {}",
                             param.dtype(), param.device());
    }
  }
}

std::vector<StateEntry> LBFGS::state_entries(const ParamGroup&) const {
  std::vector<StateEntry> entries;
  for (const char* const entry : {"d", "prev_flat_grad", "old_dirs", "old_stps", "ro", "t",
                                  "H_diag", "prev_loss", "n_iter", "func_evals"}) {
    entries.push_back({.name = entry, .sizes = StateEntry::Sizes::any});
  }
  return entries;
}

void LBFGS::update(const ParamGroup&, const detail::GroupOptions*, const StepControl&) {
  halfgrad::detail::fail(name(),
                         "expected step(closure) with an unscaled loss, got a GradScaler's step");
}

std::optional<Tensor> LBFGS::run_step(const std::function<Tensor()>& closure) {
  if (!closure) {
    halfgrad::detail::fail(name(), "expected a closure that computes loss and gradients, got none");
  }
  count_step();
  const ParamGroup& group = param_groups()[0];
  const double lr = group.lr.value();
  Problem problem(group, closure);
  double loss = problem.evaluate();
  const Tensor first_loss = problem.loss;
  expect_sizes("step");
  Tensor gradient = problem.gradient();
  if (gradient.numel() == 0) return first_loss;
  ParamState& state = this->state(group.params[0]);
  auto history = detail::LBFGSHistory::of(state, gradient.numel());
  const bool is_optimal = largest(gradient) <= options_.tolerance_grad;
  const std::int64_t iterations = is_optimal ? 0 : options_.max_iter;

  for (std::int64_t iteration = 1; iteration <= iterations; ++iteration) {
    const bool is_first = ++history.iterations == 1;
    if (!is_first) history.add(gradient, options_.history_size);
    history.d = history.direction(gradient);
    history.gradient = gradient;
    history.loss = loss;
    history.t = is_first ? std::min(1.0, 1 / abs(gradient).sum().item()) * lr : lr;
    const double slope = dot(gradient, history.d).item();
    if (slope > -options_.tolerance_change) break;

    const bool is_last = iteration == options_.max_iter;
    if (options_.line_search_fn == LineSearch::strong_wolfe) {
      const auto found =
          problem.search({0, loss, gradient, slope}, history.t, history.d,
                         options_.tolerance_change, *options_.max_eval - problem.evaluations);
      loss = found.point.loss;
      gradient = found.point.gradient;
      history.t = found.point.t;
      problem.move(history.t, history.d);
    } else {
      problem.move(history.t, history.d);
      if (!is_last) {
        loss = problem.evaluate();
        gradient = problem.gradient();
      }
    }
    if (is_last || problem.evaluations >= *options_.max_eval ||
        largest(gradient) <= options_.tolerance_grad ||
        largest(history.d) * std::abs(history.t) <= options_.tolerance_change ||
        std::abs(loss - history.loss) < options_.tolerance_change) {
      break;
    }
  }
  history.evaluations += problem.evaluations;
  if (history.d.defined()) history.store(state);
  return first_loss;
}

}  // namespace halfgrad::optim
