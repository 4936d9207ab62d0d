#pragma once

#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <halfgrad/autograd/attention.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/ops.h>

/// The calls of tests/expected/autocast_dtypes.py, by its names. Each takes 4 x 4 operands, and
/// uses rows or elements of them if the op needs those.
namespace halfgrad::op_calls {

using Operands = std::vector<Tensor>;
using Op = std::function<Tensor(const Operands&)>;

inline Tensor ones(const Shape& sizes, DType dtype) {
  return halfgrad::ones(sizes, {.dtype = dtype});
}
inline Tensor row(const Tensor& x) { return x.select(0, 0); }
inline Tensor element(const Tensor& x) { return row(x).select(0, 0); }
inline Tensor batch(const Tensor& x) { return x.unsqueeze(0); }
inline Tensor indices() { return zeros({4, 4}, {.dtype = kLong}); }
inline Tensor classes() { return zeros({4}, {.dtype = kLong}); }
inline Tensor mask() { return ones({4, 4}, kBool); }

template <class F>
Op unary(F f) {
  return [f](const Operands& in) { return f(in[0]); };
}
template <class F>
Op binary(F f) {
  return [f](const Operands& in) { return f(in[0], in[1]); };
}
template <class F>
Op ternary(F f) {
  return [f](const Operands& in) { return f(in[0], in[1], in[2]); };
}

using X = const Tensor&;

inline const std::map<std::string, Op> kOps{
    {"neg", unary(neg)},
    {"abs", unary([](X x) { return abs(x); })},
    {"exp", unary([](X x) { return exp(x); })},
    {"exp2", unary([](X x) { return exp2(x); })},
    {"expm1", unary([](X x) { return expm1(x); })},
    {"log", unary([](X x) { return log(x); })},
    {"log2", unary([](X x) { return log2(x); })},
    {"log10", unary([](X x) { return log10(x); })},
    {"log1p", unary([](X x) { return log1p(x); })},
    {"sqrt", unary([](X x) { return sqrt(x); })},
    {"rsqrt", unary(rsqrt)},
    {"reciprocal", unary(reciprocal)},
    {"pow_scalar", unary([](X x) { return pow(x, 2); })},
    {"scalar_pow", unary([](X x) { return pow(2, x); })},
    {"sin", unary([](X x) { return sin(x); })},
    {"cos", unary([](X x) { return cos(x); })},
    {"tan", unary([](X x) { return tan(x); })},
    {"tanh", unary([](X x) { return tanh(x); })},
    {"sigmoid", unary(sigmoid)},
    {"relu", unary(relu)},
    {"leaky_relu", unary([](X x) { return leaky_relu(x); })},
    {"elu", unary([](X x) { return elu(x); })},
    {"gelu", unary([](X x) { return gelu(x); })},
    {"gelu_tanh", unary([](X x) { return gelu(x, "tanh"); })},
    {"silu", unary(silu)},
    {"softplus", unary([](X x) { return softplus(x); })},
    {"erf", unary([](X x) { return erf(x); })},
    {"clamp", unary([](X x) { return clamp(x, -1, 1); })},
    {"add_scalar", unary([](X x) { return x + 1.5; })},
    {"sub_scalar", unary([](X x) { return x - 1.5; })},
    {"mul_scalar", unary([](X x) { return x * 1.5; })},
    {"div_scalar", unary([](X x) { return x / 1.5; })},
    {"scalar_div", unary([](X x) { return 1.5 / x; })},
    {"isfinite", unary([](X x) { return isfinite(x); })},
    {"isnan", unary([](X x) { return isnan(x); })},
    {"logical_not", unary(logical_not)},
    {"sum", unary([](X x) { return sum(x); })},
    {"sum_dim", unary([](X x) { return sum(x, {1}); })},
    {"mean", unary([](X x) { return mean(x); })},
    {"mean_dim", unary([](X x) { return mean(x, {1}); })},
    {"var", unary([](X x) { return var(x); })},
    {"std", unary([](X x) { return halfgrad::std(x); })},
    {"max", unary([](X x) { return max(x); })},
    {"min", unary([](X x) { return min(x); })},
    {"max_dim", unary([](X x) { return ::std::get<0>(max(x, 1)); })},
    {"argmax", unary([](X x) { return argmax(x); })},
    {"argmin", unary([](X x) { return argmin(x); })},
    {"prod", unary([](X x) { return prod(x); })},
    {"prod_dim", unary([](X x) { return prod(x, 1); })},
    {"cumsum", unary([](X x) { return cumsum(x, 1); })},
    {"sort", unary([](X x) { return ::std::get<0>(sort(x, 1)); })},
    {"argsort", unary([](X x) { return argsort(x, 1); })},
    {"topk", unary([](X x) { return ::std::get<0>(topk(x, 2, 1)); })},
    {"multinomial", unary([](X x) { return multinomial(x, 2, true); })},
    {"norm", unary([](X x) { return norm(x); })},
    {"norm_dim", unary([](X x) { return norm(x, 2, {1}); })},
    {"logsumexp", unary([](X x) { return logsumexp(x, {1}); })},
    {"all", unary([](X x) { return all(x); })},
    {"any", unary([](X x) { return any(x); })},
    {"reshape", unary([](X x) { return x.reshape({-1}); })},
    {"transpose", unary([](X x) { return x.transpose(0, 1); })},
    {"permute", unary([](X x) {
       return x.permute({1, 0});
     })},
    {"squeeze", unary([](X x) { return x.squeeze(); })},
    {"unsqueeze", unary([](X x) { return x.unsqueeze(0); })},
    {"expand", unary([](X x) {
       return x.unsqueeze(0).expand({2, 4, 4});
     })},
    {"slice", unary([](X x) { return x.slice(0, 1, 3); })},
    {"select", unary([](X x) { return x[0]; })},
    {"gather", unary([](X x) { return gather(x, 1, indices()); })},
    {"index_select", unary([](X x) { return index_select(x, 0, classes()); })},
    {"masked_fill", unary([](X x) { return masked_fill(x, mask(), 0.0); })},
    {"flatten", unary([](X x) { return x.flatten(); })},
    {"softmax", unary([](X x) { return softmax(x, 1); })},
    {"softmax_dtype_f16", unary([](X x) { return softmax(x, 1, kHalf); })},
    {"log_softmax", unary([](X x) { return log_softmax(x, 1); })},
    {"layer_norm", unary([](X x) { return layer_norm(x, {4}); })},
    {"rms_norm", unary([](X x) { return rms_norm(x, {4}); })},
    {"batch_norm", unary([](X x) { return batch_norm(x, {}, {}, {}, {}, true); })},
    {"group_norm", unary([](X x) { return group_norm(x, 2); })},
    {"embedding", unary([](X x) { return embedding(x, classes()); })},
    {"dropout", unary([](X x) { return dropout(x, 0.5, true); })},
    {"cross_entropy_index", unary([](X x) { return cross_entropy(x, classes()); })},
    {"cross_entropy_index_none",
     unary([](X x) { return cross_entropy(x, classes(), {.reduction = kNone}); })},
    {"cross_entropy_smoothing",
     unary([](X x) { return cross_entropy(x, classes(), {.label_smoothing = 0.1}); })},
    {"nll_loss", unary([](X x) { return nll_loss(x, classes()); })},
    {"einsum_transpose", unary([](X x) { return einsum("ij->ji", {x}); })},
    {"einsum_sum", unary([](X x) { return einsum("ij->", {x}); })},

    {"add", binary([](X x, X y) { return x + y; })},
    {"sub", binary([](X x, X y) { return x - y; })},
    {"mul", binary([](X x, X y) { return x * y; })},
    {"div", binary([](X x, X y) { return x / y; })},
    {"div_trunc", binary([](X x, X y) { return div(x, y, "trunc"); })},
    {"div_floor", binary([](X x, X y) { return div(x, y, "floor"); })},
    {"remainder", binary([](X x, X y) { return x % y; })},
    {"fmod", binary([](X x, X y) { return fmod(x, y); })},
    {"add_0d", binary([](X x, X y) { return x + element(y); })},
    {"mul_0d", binary([](X x, X y) { return x * element(y); })},
    {"pow", binary([](X x, X y) { return pow(x, y); })},
    {"maximum", binary(maximum)},
    {"minimum", binary(minimum)},
    {"where", binary([](X x, X y) { return where(mask(), x, y); })},
    {"lerp_scalar", binary([](X x, X y) { return lerp(x, y, 0.5); })},
    {"eq", binary([](X x, X y) { return eq(x, y); })},
    {"lt", binary([](X x, X y) { return lt(x, y); })},
    {"logical_and", binary(logical_and)},
    {"cat", binary([](X x, X y) {
       return cat({x, y});
     })},
    {"stack", binary([](X x, X y) {
       return stack({x, y});
     })},
    {"scatter_add", binary([](X x, X y) { return scatter_add(x, 1, indices(), y); })},
    {"mm", binary(mm)},
    {"matmul", binary(matmul)},
    {"matmul_vector", binary([](X x, X y) { return matmul(x, row(y)); })},
    {"matmul_dot", binary([](X x, X y) { return matmul(row(x), row(y)); })},
    {"bmm", binary([](X x, X y) { return bmm(batch(x), batch(y)); })},
    {"linear", binary([](X x, X y) { return linear(x, y); })},
    {"outer", binary([](X x, X y) { return outer(row(x), row(y)); })},
    {"dot", binary([](X x, X y) { return dot(row(x), row(y)); })},
    {"layer_norm_weight", binary([](X x, X y) { return layer_norm(x, {4}, row(y), row(y)); })},
    {"rms_norm_weight", binary([](X x, X y) { return rms_norm(x, {4}, row(y)); })},
    {"batch_norm_weight", binary([](X x, X y) {
       return batch_norm(x, row(y), row(y), row(y).clone(), row(y).clone(), true);
     })},
    {"group_norm_weight", binary([](X x, X y) { return group_norm(x, 2, row(y), row(y)); })},
    {"cross_entropy_probability", binary([](X x, X y) { return cross_entropy(x, y); })},
    {"cross_entropy_weight",
     binary([](X x, X y) { return cross_entropy(x, classes(), {.weight = row(y)}); })},
    {"mse_loss", binary([](X x, X y) { return mse_loss(x, y); })},
    {"l1_loss", binary([](X x, X y) { return l1_loss(x, y); })},
    {"smooth_l1_loss", binary([](X x, X y) { return smooth_l1_loss(x, y); })},
    {"huber_loss", binary([](X x, X y) { return huber_loss(x, y); })},
    {"bce", binary([](X x, X y) { return binary_cross_entropy(x, y); })},
    {"bce_with_logits", binary([](X x, X y) { return binary_cross_entropy_with_logits(x, y); })},
    {"kl_div", binary([](X x, X y) { return kl_div(x, y); })},
    {"einsum", binary([](X x, X y) {
       return einsum("ij,jk->ik", {x, y});
     })},

    {"addmm", ternary([](X x, X y, X z) { return addmm(x, y, z); })},
    {"linear_matrix_bias", ternary([](X x, X y, X z) { return linear(x, y, z); })},
    {"addcmul", ternary([](X x, X y, X z) { return addcmul(x, y, z); })},
    {"addcdiv", ternary([](X x, X y, X z) { return addcdiv(x, y, z); })},
    {"linear_bias", ternary([](X x, X y, X z) { return linear(x, y, row(z)); })},
    {"lerp", ternary([](X x, X y, X z) { return lerp(x, y, z); })},
    {"baddbmm", ternary([](X x, X y, X z) { return baddbmm(x, batch(y), batch(z)); })},
    {"scaled_dot_product_attention",
     ternary([](X x, X y, X z) { return scaled_dot_product_attention(x, y, z); })},
};

}  // namespace halfgrad::op_calls
