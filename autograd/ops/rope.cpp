#include <cmath>
#include <vector>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/composite_op.h>
#include <halfgrad/autograd/op_table/row_references.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/transformer.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace detail {
namespace {

// t_pi = (offset + p) base^(-2i / e) for p < l and i < e / 2, float64 [l, e / 2]
Tensor rope_angles(const Tensor& x, const RopeOptions& options) {
  const CreationOptions wide{.dtype = kDouble, .device = x.device()};
  const auto width = static_cast<double>(x.size(-1));
  const Tensor positions = arange(x.size(-2), wide) + static_cast<double>(options.offset);
  const Tensor exponents = arange(x.size(-1) / 2, wide) * (-2 * std::log(options.base) / width);
  return positions.unsqueeze(1) * exp(exponents);
}

// The pairs' first and second features, each [..., l, e / 2].
std::vector<Tensor> rope_pairs(const Tensor& x, bool interleaved) {
  if (!interleaved) return chunk(x, 2, -1);
  return {slice(x, -1, 0, std::nullopt, 2), slice(x, -1, 1, std::nullopt, 2)};
}

Tensor rope_of(const Tensor& narrow, const RopeOptions& options) {
  const DType compute = promote_types(narrow.dtype(), DType::f32);
  const Tensor angles = rope_angles(narrow, options);
  const Tensor c = cos(angles).to(compute), s = sin(angles).to(compute);
  const std::vector<Tensor> pairs = rope_pairs(narrow.to(compute), options.interleaved);
  const std::vector<Tensor> rotated{pairs[0] * c - pairs[1] * s, pairs[1] * c + pairs[0] * s};
  const Tensor y = options.interleaved ? flatten(stack(rotated, -1), -2) : cat(rotated, -1);
  return y.to(narrow.dtype());
}

// x [m, k], in halves
Elements rope_reference(const AnyArithmetic& a, const std::vector<Values>& in) {
  const std::int64_t half = in[0].sizes[1] / 2;
  Elements out;
  for (std::int64_t row = 0; row < in[0].sizes[0]; ++row) {
    const Elements x = row_of(a, in[0], row);
    Elements second;
    for (std::int64_t i = 0; i < half; ++i) {
      const double wavelengths = static_cast<double>(i) / static_cast<double>(half);
      const Bounded turn = a.exp(a.constant(-wavelengths * std::log(10000.0)));
      const Bounded angle = a.mul(a.constant(static_cast<double>(row)), turn);
      const Bounded c = a.cos(angle), s = a.sin(angle);
      const Bounded &u = x[static_cast<std::size_t>(i)], &v = x[static_cast<std::size_t>(i + half)];
      out.push_back(a.sub(a.mul(u, c), a.mul(v, s)));
      second.push_back(a.add(a.mul(v, c), a.mul(u, s)));
    }
    out.insert(out.end(), second.begin(), second.end());
  }
  return out;
}

}  // namespace

OpEntry rope_entry() {
  return {.name = "rope",
          .precision = Precision::any,
          .roundoffs = 8,
          .examples = {{"in halves",
                        {{.sizes = {5, 8}}},
                        [](const std::vector<Tensor>& in) { return rope(in[0]); },
                        in_double({5, 8}, rope_reference)}},
          .bounded_reference = rope_reference};
}

}  // namespace detail

Tensor rope(const Tensor& x, const RopeOptions& options) {
  if (x.dim() < 2 || x.size(-1) % 2 != 0 || !x.is_floating_point()) {
    detail::fail("rope", "expected floating point x [..., l, e] with an even e, got {} of {}",
                 x.sizes(), x.dtype());
  }
  if (!(options.base > 0) || !std::isfinite(options.base)) {
    detail::fail("rope", "expected a positive, finite base, got {}", options.base);
  }
  return detail::composite(
      "rope", Precision::any,
      [&](const Tensor& narrow) { return detail::rope_of(narrow, options); }, x);
}

}  // namespace halfgrad
