#include <halfgrad/optim/muon.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <deque>
#include <utility>

#include <halfgrad/autograd/norms.h>
#include <halfgrad/autograd/ops/shared/product.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/check_option.h>
#include <halfgrad/optim/formula_update.h>
#include <halfgrad/optim/state_update.h>
#include <halfgrad/optim/usual_options.h>

namespace halfgrad::optim {
namespace {

constexpr DType kProducts = DType::bf16;

// The first pass: updates m and stores u. The parameter is not used.
struct MuonMomentum {
  static constexpr unsigned kWrites = detail::operands_from(detail::kState);

  double momentum;
  bool nesterov;

  template <class T>
  HG_HD void operator()(T, T gradient, T& m, T& u) const {
    m = detail::move_toward(m, gradient, 1 - momentum);
    u = nesterov ? detail::move_toward(gradient, m, momentum) : m;
  }
};

struct MuonMomentumUpdate {
  const detail::GroupOptions* options;

  HG_HD MuonMomentum make() const { return {options->momentum, options->nesterov}; }
};

// The second pass, for direction = NewtonSchulz(u).
struct MuonFormula {
  static constexpr unsigned kWrites = detail::operands(detail::kParameter);

  double keep, step_size;

  template <class T>
  HG_HD void operator()(T& parameter, T, T direction) const {
    parameter = math::multiply_add(T(keep), parameter, T(-step_size) * direction);
  }
};

struct MuonUpdate {
  const detail::GroupOptions* options;
  double factor;

  HG_HD MuonFormula make() const {
    return {1 - options->lr * options->weight_decay, options->lr * factor};
  }
};

struct DivideByNorm {
  double eps;

  template <class T>
  HG_HD T operator()(T x, T norm) const {
    return x / math::maximum(norm, T(eps));
  }
};

// The arrays of one parameter's update; `parameter` is its master if it has one.
struct MuonOperands {
  Array parameter, u;
};

ParamGroup to_group(const MuonArguments& options) {
  return {.lr = options.lr,
          .momentum = options.momentum,
          .nesterov = options.nesterov,
          .eps = options.eps,
          .weight_decay = options.weight_decay};
}

}  // namespace

Muon::Muon(const MuonArguments& options) : Optimizer("Muon", to_group(options)), options_(options) {
  detail::check_option(options.ns_steps >= 0 && options.ns_steps < 100, name(),
                       "ns_steps in [0, 100)", static_cast<double>(options.ns_steps));
}

Muon::Muon(std::vector<Tensor> params, const MuonArguments& options) : Muon(options) {
  add_params(std::move(params));
}

Muon::Muon(std::vector<ParamGroup> groups, const MuonArguments& options) : Muon(options) {
  add_param_groups(std::move(groups));
}

void Muon::check_options(const ParamGroup& group) const {
  detail::check_usual_options(name(), group);
  for (const Tensor& param : group.params) {
    if (param.dim() == 2) continue;
    halfgrad::detail::fail(name(),
                           "expected matrices, got a parameter of shape {}; give biases, norms and "
                           "embeddings to AdamW",
                           param.sizes());
  }
}

std::vector<StateEntry> Muon::state_entries(const ParamGroup&) const {
  return {{"momentum_buffer"}};
}

double Muon::rate_factor(const Shape& sizes) const {
  const auto rows = static_cast<double>(sizes[0]), columns = static_cast<double>(sizes[1]);
  switch (options_.adjust_lr_fn) {
    case MuonRate::match_rms_adamw:
      return 0.2 * std::sqrt(std::max(rows, columns));
    case MuonRate::spectral_unclamped:
      return std::sqrt(rows / columns);
    case MuonRate::original:
      break;
  }
  return std::sqrt(std::max(1.0, rows / columns));
}

// NewtonSchulz(matrix), of a wide matrix: X X^T is then the smaller of the two Gram matrices.
Array Muon::orthogonalized(const Array& matrix, double eps) const {
  const bool is_tall = matrix.size(0) > matrix.size(1);
  const Array wide = is_tall ? matrix.transpose(0, 1) : matrix;
  const Array norm = Array::empty({}, kProducts, wide.device());
  detail::store_norm(norm, wide, 2, 3);
  Array x = Array::empty(wide.sizes(), kProducts, wide.device());
  detail::elementwise(DivideByNorm{eps}, DType::f32, x, wide, norm);
  const auto [a, b, c] = options_.ns_coefficients;
  const Array gram = Array::empty({x.size(0), x.size(0)}, kProducts, x.device());
  for (std::int64_t step = 0; step < options_.ns_steps; ++step) {
    detail::product(1, x, x.transpose(0, 1), 0, gram);
    const Array polynomial = gram.clone();
    detail::product(c, gram, gram, b, polynomial);
    const Array next = x.clone();
    detail::product(1, polynomial, x, a, next);
    x = next;
  }
  return is_tall ? x.transpose(0, 1) : x;
}

// There is no step count to advance.
bool Muon::add_step_counts(const ParamGroup& group, const detail::GroupOptions* options,
                           std::vector<detail::StepCount>& counts, Array&) {
  counts.insert(counts.end(), detail::params_with_gradient(group).size(),
                {nullptr, options, nullptr});
  return true;
}

void Muon::update(const ParamGroup& group, const detail::GroupOptions* options,
                  const StepControl& control) {
  const std::vector<Tensor> params = detail::params_with_gradient(group);
  std::deque<MuonOperands> operands;
  detail::StateUpdates<MuonMomentumUpdate, 2> momenta(control);
  for (const Tensor& param : params) {
    ParamState& moments = state(param);
    const auto master = moments.find(detail::kMaster);
    const Array parameter = master != moments.end() ? master->second : param.array();
    const MuonOperands& o = operands.emplace_back(MuonOperands{
        parameter,
        Array::full(param.sizes(), 0, kProducts, param.device())});  // zeros in a skipped step
    momenta.add(param, o.parameter, {options},
                {&detail::moment(moments, "momentum_buffer", param), &o.u});
  }
  momenta.run();
  for (MuonOperands& o : operands) o.u = orthogonalized(o.u, group.eps.value());

  const StepControl unscaled{.found_inf = control.found_inf};  // the first pass used the factors
  detail::ParameterUpdates<MuonUpdate, 1> updates(unscaled);
  for (std::size_t i = 0; i < params.size(); ++i) {
    updates.add(params[i], state(params[i]), {options, rate_factor(params[i].sizes())},
                {&operands[i].u});
  }
  updates.run();
}

}  // namespace halfgrad::optim
