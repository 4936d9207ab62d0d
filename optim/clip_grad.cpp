#include <halfgrad/optim/clip_grad.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>

#include <halfgrad/autograd/graph/grad_scale.h>
#include <halfgrad/autograd/graph/pending_unscale.h>
#include <halfgrad/autograd/norms.h>
#include <halfgrad/core/engines/elementwise.h>
#include <halfgrad/core/engines/multi_tensor.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/math/math.h>
#include <halfgrad/optim/norm_pass.h>

namespace halfgrad::nn::utils {
namespace {

// Stores the norms of tensors [first, first + out.numel()) in `out`.
void store_norms(const Array& out, const std::vector<Tensor>& tensors, std::int64_t first,
                 double norm_type) {
  std::vector<Array> arrays;
  for (std::int64_t i = first; i < first + out.numel(); ++i) arrays.push_back(tensors[i].array());
  detail::store_norms(out, arrays, norm_type);
}

struct ClipCoefficient {
  double max_norm;

  template <class T>
  HG_HD T operator()(T total_norm) const {
    return detail::clip_coefficient(T(max_norm), total_norm);
  }
};

struct MultiplyBy {
  static constexpr unsigned kWrites = detail::operands(0);

  HG_HD MultiplyBy make() const { return {}; }

  template <class T>
  HG_HD void operator()(T& gradient, T coefficient) const {
    gradient = gradient * coefficient;
  }
};

struct Clamp {
  static constexpr unsigned kWrites = detail::operands(0);

  double limit;

  HG_HD Clamp make() const { return *this; }

  template <class T>
  HG_HD void operator()(T& gradient) const {
    gradient = select(gradient < T(-limit), T(-limit), gradient);
    gradient = select(gradient > T(limit), T(limit), gradient);
  }
};

// The name of a limit in errors, and whether it may clip scaled gradients.
struct Limit {
  const char* name;
  ScaledGradients scaled;
};

std::vector<Tensor> gradients_of(const std::vector<Tensor>& parameters, const char* op,
                                 const Limit& limit) {
  std::vector<Tensor> gradients;
  for (const Tensor& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (limit.scaled == ScaledGradients::refuse) {
    const std::string fix = std::string("call scaler.unscale_(optimizer) first, or clip by ") +
                            limit.name + " * scaler.get_scale() with ScaledGradients::allow";
    detail::expect_unscaled(gradients, op, fix.c_str());
  }
  return gradients;
}

// Runs each update on the device of its gradient, and the updates of one device in their order.
template <class Update, std::size_t N>
void update_each_device(const std::vector<detail::TensorUpdate<Update, N>>& updates) {
  std::map<Device, std::vector<detail::TensorUpdate<Update, N>>> by_device;
  for (const auto& update : updates) by_device[update.operands[0]->device()].push_back(update);
  for (const auto& [device, there] : by_device) detail::multi_tensor(there);
}

void expect_finite(const Tensor& norm, const char* op) {
  if (std::isfinite(norm.item())) return;
  detail::fail<std::runtime_error>(op, "expected a finite norm, got {}", norm.item());
}

void bump_versions(const std::vector<Tensor>& gradients) {
  for (const Tensor& gradient : gradients) detail::bump_version_of_scaled(gradient);
}

// Clips gradients whose unscaling is pending, of which `total_norm` is the norm.
bool clip_pending(const std::vector<Tensor>& gradients, double max_norm, const Tensor& total_norm) {
  const auto pending = detail::pending_unscale_of(gradients);
  if (pending == nullptr || !detail::is_norm_of(total_norm, *pending)) return false;
  if (pending->clip(max_norm)) return true;
  detail::elementwise(ClipCoefficient{max_norm}, kFloat, pending->factors().select(0, 1),
                      total_norm.array());
  return true;
}

}  // namespace

Tensor get_total_norm(const std::vector<Tensor>& tensors, double norm_type,
                      bool error_if_nonfinite) {
  if (tensors.empty()) return Tensor(Array::full({}, 0, DType::f32));
  if (norm_type == 2) detail::defer_norm(tensors);
  const Tensor pending = norm_type == 2 ? detail::pending_norm_of(tensors) : Tensor();
  if (pending.defined()) {
    if (error_if_nonfinite) expect_finite(pending, "get_total_norm");
    return pending;
  }
  DType dtype = tensors[0].dtype();
  for (const Tensor& tensor : tensors) dtype = promote_types(dtype, tensor.dtype());
  const Device device = tensors[0].device();

  const auto count = static_cast<std::int64_t>(tensors.size());
  const Array norms = Array::empty({count}, dtype, device);
  for (std::int64_t first = 0, last = 0; first < count; first = last) {
    const Device there = tensors[first].device();
    while (last < count && tensors[last].device() == there) ++last;
    const Array target = norms.slice(0, first, last);
    const Array part = there == device ? target : Array::empty({last - first}, dtype, there);
    store_norms(part, tensors, first, norm_type);
    if (there != device) target.copy_(part);
  }
  const Array total = Array::empty({}, dtype, device);
  detail::store_norm(total, norms, norm_type, 1);
  if (error_if_nonfinite) expect_finite(Tensor(total), "get_total_norm");
  return Tensor(total);
}

void clip_grads_with_norm_(const std::vector<Tensor>& parameters, double max_norm,
                           const Tensor& total_norm, ScaledGradients scaled) {
  const std::vector<Tensor> gradients =
      gradients_of(parameters, "clip_grads_with_norm_", {"max_norm", scaled});
  if (clip_pending(gradients, max_norm, total_norm)) return;
  const Array coefficient = Array::empty({}, total_norm.dtype(), total_norm.device());
  detail::elementwise(ClipCoefficient{max_norm}, total_norm.dtype(), coefficient,
                      total_norm.array());
  std::map<Device, Array> coefficients;
  std::vector<detail::TensorUpdate<MultiplyBy, 2>> updates;
  for (const Tensor& gradient : gradients) {
    Array& there = coefficients[gradient.device()];
    if (!there.defined()) there = coefficient.to(gradient.device());
    updates.push_back({{}, {&gradient.array(), &there}});
  }
  update_each_device(updates);
  bump_versions(gradients);
}

Tensor tensors::clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm,
                                double norm_type, bool error_if_nonfinite, ScaledGradients scaled) {
  const Tensor total =
      get_total_norm(gradients_of(parameters, "clip_grad_norm_", {"max_norm", scaled}), norm_type);
  if (error_if_nonfinite) expect_finite(total, "clip_grad_norm_");
  clip_grads_with_norm_(parameters, max_norm, total, scaled);
  return total;
}

Tensor tensors::clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type,
                                bool error_if_nonfinite, ScaledGradients scaled) {
  return clip_grad_norm_(std::vector{parameter}, max_norm, norm_type, error_if_nonfinite, scaled);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double clip_value,
                      ScaledGradients scaled) {
  const std::vector<Tensor> gradients =
      gradients_of(parameters, "clip_grad_value_", {"clip_value", scaled});
  std::vector<detail::TensorUpdate<Clamp, 1>> updates;
  for (const Tensor& gradient : gradients) updates.push_back({{clip_value}, {&gradient.array()}});
  update_each_device(updates);
  bump_versions(gradients);
}

void clip_grad_value_(const Tensor& parameter, double clip_value, ScaledGradients scaled) {
  clip_grad_value_(std::vector{parameter}, clip_value, scaled);
}

}  // namespace halfgrad::nn::utils
