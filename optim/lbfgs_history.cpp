#include <halfgrad/optim/lbfgs_history.h>

#include <cstddef>
#include <string>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

Array scalar(double value) { return Array::full({}, value, DType::f64); }

const Array& entry(const optim::ParamState& state, const char* name, const Shape& sizes) {
  const Array& array = state.at(name);
  if (array.sizes() == sizes) return array;
  fail("LBFGS", "expected {} of shape {} in the state, got {}", name, sizes, array.sizes());
}

}  // namespace

void LBFGSHistory::add(const Tensor& next_gradient, std::int64_t history_size) {
  const Tensor y = next_gradient - gradient, s = d * t;
  const double curvature = dot(y, s).item();
  if (!(curvature > 1e-10)) return;
  while (!pairs.empty() && std::ssize(pairs) >= history_size) pairs.pop_front();
  if (history_size > 0) pairs.push_back({y, s, 1 / curvature});
  h_diag = curvature / dot(y, y).item();
}

Tensor LBFGSHistory::direction(const Tensor& next_gradient) const {
  Tensor q = -next_gradient;
  std::vector<double> alpha(pairs.size());
  for (std::size_t i = pairs.size(); i-- > 0;) {
    alpha[i] = dot(pairs[i].s, q).item() * pairs[i].rho;
    q.add_(pairs[i].y, -alpha[i]);
  }
  Tensor r = q * h_diag;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const double beta = dot(pairs[i].y, r).item() * pairs[i].rho;
    r.add_(pairs[i].s, alpha[i] - beta);
  }
  return r;
}

LBFGSHistory LBFGSHistory::of(const optim::ParamState& state, std::int64_t numel) {
  LBFGSHistory history;
  if (state.empty()) return history;
  const auto number = [&state](const char* name) { return entry(state, name, {}).item(); };
  history.d = Tensor(entry(state, "d", {numel}));
  history.gradient = Tensor(entry(state, "prev_flat_grad", {numel}));
  history.t = number("t");
  history.h_diag = number("H_diag");
  history.loss = number("prev_loss");
  history.iterations = static_cast<std::int64_t>(number("n_iter"));
  history.evaluations = static_cast<std::int64_t>(number("func_evals"));
  const std::int64_t count = state.at("ro").numel();
  const Array rho = entry(state, "ro", {count});
  const Array y = entry(state, "old_dirs", {count, numel});
  const Array s = entry(state, "old_stps", {count, numel});
  for (std::int64_t i = 0; i < count; ++i) {
    history.pairs.push_back(
        {Tensor(y.select(0, i)), Tensor(s.select(0, i)), rho.select(0, i).item()});
  }
  return history;
}

void LBFGSHistory::store(optim::ParamState& state) const {
  std::vector<Tensor> y, s;
  std::vector<double> rho;
  for (const Pair& pair : pairs) {
    y.push_back(pair.y);
    s.push_back(pair.s);
    rho.push_back(pair.rho);
  }
  const auto rows = [this](const std::vector<Tensor>& tensors) {
    if (!tensors.empty()) return stack(tensors).array();
    return Array::empty({0, d.numel()}, d.dtype(), d.device());
  };
  state = {{"d", d.array()},
           {"prev_flat_grad", gradient.array()},
           {"old_dirs", rows(y)},
           {"old_stps", rows(s)},
           {"ro", tensor(rho, {.dtype = DType::f64}).array()},
           {"t", scalar(t)},
           {"H_diag", scalar(h_diag)},
           {"prev_loss", scalar(loss)},
           {"n_iter", scalar(static_cast<double>(iterations))},
           {"func_evals", scalar(static_cast<double>(evaluations))}};
}

}  // namespace halfgrad::detail
