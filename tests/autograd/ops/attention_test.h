#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/backward.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/composed_attention.h>
#include <halfgrad/core/random.h>
#include <halfgrad/tests/autograd/table/doubles.h>

// Runs scaled_dot_product_attention and the composition of ops that it is compared with.
namespace halfgrad {

// The sizes of one attention, and its options.
struct AttentionCase {
  std::int64_t l, s, e, v;
  Shape batch = {2};
  bool is_causal = false;
  double dropout_p = 0;
  std::optional<Shape> mask = std::nullopt;
  bool bool_mask = true;
};

inline std::string named(const AttentionCase& c) {
  return "l " + std::to_string(c.l) + ", s " + std::to_string(c.s) + ", e " + std::to_string(c.e) +
         ", v " + std::to_string(c.v) + ", batch " + to_string(c.batch) +
         (c.is_causal ? ", causal" : "") + (c.dropout_p > 0 ? ", dropout" : "") +
         (c.mask ? (c.bool_mask ? ", bool mask" : ", float mask") : "");
}

inline Shape matrices(Shape batch, std::int64_t rows, std::int64_t columns) {
  batch.push_back(rows);
  batch.push_back(columns);
  return batch;
}

class AttentionTest : public TensorsOnDevice {
 protected:
  Tensor drawn(const Shape& sizes, std::uint64_t stream, DType dtype, double high = 2) const {
    return random_tensor(sizes, -high, high, {11, stream}).to(dtype).to(device());
  }

  // Runs `attend` on operands that require gradients; returns y and the gradients of q, k and v.
  template <class F>
  std::vector<Tensor> run(const AttentionCase& c, DType dtype, DType as, const F& attend) const {
    manual_seed(5);
    std::vector<Tensor> in;
    const Shape sizes[] = {matrices(c.batch, c.l, c.e), matrices(c.batch, c.s, c.e),
                           matrices(c.batch, c.s, c.v)};
    for (std::uint64_t i = 0; i < 3; ++i) {
      in.push_back(drawn(sizes[i], i, dtype).to(as).detach().requires_grad_());
    }
    const Tensor y = attend(in[0], in[1], in[2], mask_of(c, dtype, as));
    const Tensor dy = drawn(y.sizes(), 9, dtype).to(as);
    std::vector<Tensor> all{y.detach()};
    for (const Tensor& gradient : autograd::grad({y}, in, {dy})) all.push_back(gradient);
    return all;
  }

  Tensor mask_of(const AttentionCase& c, DType dtype, DType as) const {
    if (!c.mask) return {};
    const Tensor values = drawn(*c.mask, 4, dtype);
    return c.bool_mask ? values > -1 : values.to(as);
  }

  std::vector<Tensor> fused(const AttentionCase& c, DType dtype) const {
    return run(c, dtype, dtype,
               [&](const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask) {
                 return scaled_dot_product_attention(q, k, v, mask, c.dropout_p, c.is_causal);
               });
  }

  // In float64, from the operands of `dtype`.
  std::vector<Tensor> composed(const AttentionCase& c, DType dtype) const {
    return run(c, dtype, kDouble,
               [&](const Tensor& q, const Tensor& k, const Tensor& v, Tensor mask) {
                 const double width = static_cast<double>(c.e);
                 return detail::ComposedAttention{q,
                                                  k,
                                                  v,
                                                  mask,
                                                  {.scale = c.e == 0 ? 1 : 1 / std::sqrt(width),
                                                   .is_causal = c.is_causal,
                                                   .dropout_p = c.dropout_p,
                                                   .dropout_key = default_generator().take()}}
                     .output();
               });
  }
};
inline void expect_near(const Tensor& actual, const Tensor& expected, double roundoffs) {
  ASSERT_EQ(actual.sizes(), expected.sizes());
  const Doubles wanted = elements(expected), values = elements(actual);
  double largest = 1;
  for (const double x : wanted) largest = std::fmax(largest, std::fabs(x));
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_LE(std::fabs(values[i] - wanted[i]), roundoffs * roundoff(actual.dtype()) * largest)
        << "element " << i << ": " << values[i] << ", expected " << wanted[i];
  }
}

}  // namespace halfgrad
