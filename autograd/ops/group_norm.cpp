#include <halfgrad/autograd/group_norm.h>

#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

void check_group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight,
                      const Tensor& bias) {
  if (input.dim() < 2 || !input.is_floating_point()) {
    fail("group_norm", "expected a floating point input of shape [n, c, ...], got {} of {}",
         input.sizes(), input.dtype());
  }
  const std::int64_t channels = input.size(1);
  if (num_groups < 1 || channels % num_groups != 0) {
    fail("group_norm", "expected a number of groups that divides {} channels, got {}", channels,
         num_groups);
  }
  for (const Tensor* parameter : {&weight, &bias}) {
    if (!parameter->defined()) continue;
    if (parameter->sizes() != Shape{channels}) {
      fail("group_norm", "expected weight and bias of shape {}, got {}", Shape{channels},
           parameter->sizes());
    }
    if ((parameter->dtype() == kDouble) != (input.dtype() == kDouble)) {
      fail("group_norm",
           "expected weight and bias of float64 if and only if the input is, got {} for {}",
           parameter->dtype(), input.dtype());
    }
  }
}

// The channels of a group lie side by side in memory, so a group is a row of layer_norm.
Tensor group_norm_of(const Tensor& narrow, std::int64_t num_groups, const Tensor& weight,
                     const Tensor& bias, double eps) {
  const Tensor x = narrow.to(promote_types(narrow.dtype(), DType::f32));
  const std::int64_t rows = x.size(0) * num_groups;
  const std::int64_t columns = rows == 0 ? 0 : x.numel() / rows;
  Tensor y = unsafe_view(layer_norm(x.reshape({rows, columns}), {columns}, {}, {}, eps), x.sizes());
  Shape along_channels{-1};  // [c, 1, ...] broadcasts along dimension 1
  for (std::int64_t d = 2; d < x.dim(); ++d) along_channels.push_back(1);
  if (weight.defined()) y = y * weight.reshape(along_channels);
  if (bias.defined()) y = y + bias.reshape(along_channels);
  return y.to(narrow.dtype());
}

constexpr std::int64_t kReferenceGroups = 2;

// Operands x [m, 2 n, k], w [2 n] and b [2 n], in 2 groups. Kernels may fold w into the divisor.
BoundedReference group_norm_reference(double eps) {
  return [eps](const AnyArithmetic& a, const std::vector<Values>& in) {
    const std::int64_t m = in[0].sizes[0], channels = in[0].sizes[1], k = in[0].sizes[2];
    const std::int64_t group = channels / kReferenceGroups;
    Elements out;
    for (std::int64_t row = 0; row < m * kReferenceGroups; ++row) {
      const std::int64_t first_channel = row % kReferenceGroups * group;
      Elements w, b;
      for (std::int64_t i = 0; i < group * k; ++i) {
        const auto channel = static_cast<std::size_t>(first_channel + i / k);
        w.push_back(a.number(in[1].data[channel]));
        b.push_back(a.number(in[2].data[channel]));
      }
      const Elements x = strided(a, in[0], row * group * k, group * k);
      const Elements y = weighted_row(a, x, w, true, eps);
      for (std::size_t i = 0; i < y.size(); ++i) out.push_back(a.add(y[i], b[i]));
    }
    return out;
  };
}

}  // namespace

OpEntry group_norm_entry() {
  return {.name = "group_norm",
          .precision = Precision::wide_range,
          .roundoffs = 32,
          .examples = {{"in 2 groups",
                        {{.sizes = {3, 6, 4}}, {.sizes = {6}}, {.sizes = {6}}},
                        [](const std::vector<Tensor>& in) {
                          return group_norm(in[0], kReferenceGroups, in[1], in[2], 1e-3);
                        },
                        in_double({3, 6, 4}, group_norm_reference(1e-3))}},
          .bounded_reference = group_norm_reference(1e-5)};
}

}  // namespace detail

Tensor group_norm(const Tensor& input, std::int64_t num_groups, const Tensor& weight,
                  const Tensor& bias, double eps) {
  detail::check_group_norm(input, num_groups, weight, bias);
  return detail::composite(
      "group_norm", Precision::wide_range,
      [&](const Tensor& x, const Tensor& w, const Tensor& b) {
        return detail::group_norm_of(x, num_groups, w, b, eps);
      },
      input, weight, bias);
}

}  // namespace halfgrad
