#pragma once

#include <string>
#include <vector>

#include <halfgrad/tests/testing/planted/call.h>
#include <halfgrad/tests/testing/planted/elementwise.h>
#include <halfgrad/tests/testing/planted/float8.h>
#include <halfgrad/tests/testing/planted/functions.h>
#include <halfgrad/tests/testing/planted/fused_steps.h>
#include <halfgrad/tests/testing/planted/gemm.h>
#include <halfgrad/tests/testing/planted/layer_norm.h>
#include <halfgrad/tests/testing/planted/moves.h>
#include <halfgrad/tests/testing/planted/reductions.h>
#include <halfgrad/tests/testing/planted/softmax.h>
#include <halfgrad/tests/testing/planted/sum.h>
#include <halfgrad/tests/testing/planted/variants.h>

/// Kernels with one wrong line, which the checker must find, and correct ones, which must pass.
/// docs/planted_bugs.md is written from these lists.
namespace halfgrad::testing::planted {

template <class F>
Kernel planted(Bug bug) {
  return on_dtype(F{bug});
}

inline Kernel row_kernel(RowSum f) { return on_dtype(EachRow<RowSum>{f}); }
inline Kernel gemm_kernel(Loops loops) { return on_dtype(GemmVariant{loops}); }

/// Kernels of fp8 and of fused steps, right or wrong ones, in float32.
inline std::vector<PlantedKernel> scaled_kernels(bool right) {
  std::vector<PlantedKernel> all;
  for (const auto& list : {float8_kernels(), fused_steps()}) {
    for (const BackwardKernel& each : list) {
      if ((each.mistake <= 0) == right)
        all.push_back({each.op, kFloat32, each.what, each.kernel()});
    }
  }
  return all;
}

inline std::vector<PlantedKernel> wrong_kernels() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  const std::vector<PlantedKernel> all = {
      {"add", f32, "the tail is missing", planted<Add>(Bug::add_missing_tail)},
      {"add", f32, "the tail ends one too early", planted<Add>(Bug::add_tail_off_by_one)},
      {"add", f32, "the tail ends one too late", planted<Add>(Bug::add_writes_one_beyond)},
      {"add", f32, "starts one too early", planted<Add>(Bug::add_writes_one_before)},
      {"add", f32, "ignores the strides", planted<Add>(Bug::add_ignores_stride)},
      {"add", f32, "assumes an aligned base pointer", planted<Add>(Bug::add_aligns_pointer)},
      {"add", f32, "flushes subnormal results to zero", planted<Add>(Bug::add_flushes_to_zero)},
      {"add", f16, "stores 0 for NaN", planted<Add>(Bug::add_swallows_nan)},
      {"add", f16, "stores the largest finite value for infinity",
       planted<Add>(Bug::add_saturates)},
      {"add", bf16, "cuts the last 16 bits off", planted<Add>(Bug::add_truncates)},
      {"add", bf16, "rounds to fp16 first", planted<Add>(Bug::add_rounds_twice)},
      {"add", f32, "keeps the result of the last call", planted<Add>(Bug::add_caches_result)},
      {"add", f32, "uses an input as scratch memory", planted<Add>(Bug::add_scratch_in_input)},
      {"relu", f16, "max(x, 0), which drops NaN", relu(Bug::relu_swallows_nan)},
      {"sigmoid", f16, "exp(x) / (1 + exp(x))", sigmoid(Bug::sigmoid_overflows)},
      {"gelu", f32, "the tanh approximation", gelu(Bug::gelu_by_tanh)},
      {"sum", f16, "accumulates in fp16", planted<SumRows>(Bug::sum_accumulates_in_storage)},
      {"sum", bf16, "accumulates in bf16", planted<SumRows>(Bug::sum_accumulates_in_storage)},
      {"sum", f32, "no barrier in the tree", planted<SumRows>(Bug::sum_missing_barrier)},
      {"sum", f32, "the tree starts a level too low",
       planted<SumRows>(Bug::sum_tree_misses_a_level)},
      {"sum", f32, "starts at element 1", planted<SumRows>(Bug::sum_skips_first)},
      {"sum", f32, "whole blocks of lanes only", planted<SumRows>(Bug::sum_skips_tail)},
      {"sum", f16, "reads one element beyond the row", planted<SumRows>(Bug::sum_reads_one_beyond)},
      {"sum", f32, "partial sums of the last row remain",
       planted<SumRows>(Bug::sum_keeps_last_row)},
      {"sum", f32, "partial sums in fp16", planted<SumRows>(Bug::sum_partials_in_16_bits)},
      {"sum", f32, "order of arrival", planted<SumRows>(Bug::sum_order_of_arrival)},
      {"sum", f32, "row stride m instead of k", planted<SumRows>(Bug::sum_wrong_row_stride)},
      {"sum", f32, "an even number of rows only", planted<SumRows>(Bug::sum_rounds_rows_down)},
      {"sum", bf16, "counts NaN as 0", planted<SumRows>(Bug::sum_swallows_nan)},
      {"mm", f32, "whole tiles of k only", planted<Gemm>(Bug::mm_skips_last_tile)},
      {"mm", f32, "the last tile is not cleared", planted<Gemm>(Bug::mm_tile_not_cleared)},
      {"mm", f32, "leading dimension n - 1", planted<Gemm>(Bug::mm_wrong_leading_dimension)},
      {"mm", f16, "rounds to fp16 after each tile", planted<Gemm>(Bug::mm_rounds_between_tiles)},
      {"mm", bf16, "rounds to bf16 after each tile", planted<Gemm>(Bug::mm_rounds_between_tiles)},
      {"mm", f16, "skips products with 0", planted<Gemm>(Bug::mm_skips_zeros)},
      {"mm", f32, "one row too many", planted<Gemm>(Bug::mm_writes_one_row_more)},
      {"mm", f32, "one column too few", planted<Gemm>(Bug::mm_misses_last_column)},
      {"mm", f32, "adds to the old output", planted<Gemm>(Bug::mm_adds_to_output)},
      {"mm", f32, "stores the transpose", planted<Gemm>(Bug::mm_transposed_output)},
      {"mm", f32, "products by quarter squares", planted<Gemm>(Bug::mm_quarter_squares)},
      {"softmax", f32, "exp(x) without the maximum", planted<Softmax>(Bug::softmax_without_max)},
      {"softmax", f16, "the maximum starts from 0", planted<Softmax>(Bug::softmax_max_from_zero)},
      {"softmax", f32, "no rescaling at a new maximum",
       planted<Softmax>(Bug::softmax_forgets_rescaling)},
      {"softmax", f16, "the sum in fp16", planted<Softmax>(Bug::softmax_sum_in_storage)},
      {"softmax", f32, "log2(e) to five digits", planted<Softmax>(Bug::softmax_short_log2e)},
      {"softmax", f32, "divides by the last tile's sum",
       planted<Softmax>(Bug::softmax_sums_one_tile)},
      {"softmax", f32, "in place: writes what it reads again",
       planted<Softmax>(Bug::softmax_scratch_in_output), true},
      {"layer_norm", f32, "E[x^2] - E[x]^2 as variance",
       planted<LayerNorm>(Bug::norm_one_pass_variance)},
      {"layer_norm", f32, "divides by k - 1", planted<LayerNorm>(Bug::norm_unbiased_variance)},
      {"layer_norm", f32, "eps outside the root", planted<LayerNorm>(Bug::norm_eps_outside_root)},
      {"layer_norm", f16, "no eps", planted<LayerNorm>(Bug::norm_without_eps)},
      {"layer_norm", f32, "the row's weight, not the column's",
       planted<LayerNorm>(Bug::norm_weight_of_row)},
      {"layer_norm", bf16, "no bias", planted<LayerNorm>(Bug::norm_without_bias)},
      {"layer_norm", bf16, "the mean in bf16", planted<LayerNorm>(Bug::norm_mean_in_storage)},
      {"layer_norm", f32, "1 / sqrt to 11 bits", planted<LayerNorm>(Bug::norm_rough_rsqrt)},
      {"exp", f32, "flushes subnormal results to zero", map(exp_flushing)},
      {"exp", f32, "exp2(x log2(e)), the product rounded", map(exp_by_exp2)},
      {"exp2", f32, "exp(x ln(2)), the product rounded", map(exp2_by_exp)},
      {"expm1", f32, "exp(x) - 1", map(exp_less_one)},
      {"log", f32, "treats subnormals as 0", map(log_of_normal)},
      {"log1p", f32, "log(1 + x)", map(log_of_sum)},
      {"sin", f32, "reduces by 2 pi in fp32", map(sin_by_float_pi)},
      {"tanh", f32, "(1 - exp(-2x)) / (1 + exp(-2x))", map(tanh_by_exp)},
      {"erf", f32, "a polynomial good to 1e-7", map(erf_by_five_terms)},
      {"pow", f32, "exp(b log(a))", map(pow_by_log)},
      {"remainder", f32, "x - floor(x / y) y", map(remainder_by_quotient)},
      {"fmod", f32, "x - trunc(x / y) y", map(fmod_by_quotient)},
      {"rsqrt", f32, "two Newton steps", map(rsqrt_by_bits)},
      {"sigmoid", f32, "1 - 1 / (1 + exp(x))", map(sigmoid_from_one)},
      {"silu", f16, "x exp(x) / (1 + exp(x))", map(silu_by_exp_of_x)},
      {"softplus", f32, "log(1 + exp(x))", map(softplus_by_log)},
      {"elu", f32, "exp(x) - 1", map(elu_by_exp)},
      {"dropout", f32, "does not divide by 1 - p", on_dtype(Dropout{.without_scale = true})},
      {"cumsum", f16, "partial sums in fp16", on_dtype(PartialSums{.in_storage = true})},
      {"cumsum", f32, "sums up to the element before", on_dtype(PartialSums{.without_own = true})},
      {"prod", f16, "partial products in fp16", on_dtype(ProductInStorage{})},
      {"prod", f32, "the exp of a sum of logs", row_kernel(prod_of_logs)},
      {"var", f32, "E[x^2] - E[x]^2", row_kernel(var_one_pass)},
      {"var", f32, "divides by n", row_kernel(var_biased)},
      {"std", f32, "1e-5 under the root", row_kernel(std_with_epsilon)},
      {"amax", f32, "starts from 0", row_kernel(max_from_zero)},
      {"argmax", f32, "the last of equal values", ArgMax{.last_of_equal = true}},
      {"argmax", f32, "ignores NaN", ArgMax{.ignores_nan = true}},
      {"all", f32, "whole blocks of 8 only", All{.misses_tail = true}},
      {"batch_norm", f32, "statistics of the first sample",
       on_dtype(BatchNorm{.of_one_sample = true})},
      {"bmm", f32, "the first right-hand matrix for all", on_dtype(Bmm{.one_right_for_all = true})},
      {"linear_relu", f32, "the bias after relu",
       on_dtype(LinearActivation{.activation = relu_of, .before_bias = true})},
      {"linear_gelu", f32, "by erf, not tanh",
       on_dtype(LinearActivation{.activation = gelu_by_erf})},
      {"nll_loss", f32, "the first row's class", on_dtype(NllLoss{.class_of_first_row = true})},
      {"mse_loss", f16, "sums in fp16",
       on_dtype(MeanLoss{.f = squared_difference, .sum_in_storage = true})},
      {"l1_loss", f32, "divides by the rows",
       on_dtype(MeanLoss{.f = absolute_difference, .by_rows = true})},
      {"smooth_l1_loss", f32, "d^2 instead of d^2 / 2",
       on_dtype(MeanLoss{.f = smooth_without_half})},
      {"binary_cross_entropy", f32, "log(1 - p)", on_dtype(MeanLoss{.f = bce_by_log})},
      {"binary_cross_entropy", f32, "logarithms without a bound",
       on_dtype(MeanLoss{.f = bce_unbounded})},
      {"binary_cross_entropy_with_logits", f32, "log(sigmoid(x))",
       on_dtype(MeanLoss{.f = logits_bce_by_sigmoid})},
      {"kl_div", f32, "t log t without the case t = 0", on_dtype(MeanLoss{.f = kl_without_zero})},
      {"scatter_add", f32, "the last of equal indices", on_dtype(ScatterAdd{.last_wins = true})},
      {"transpose", f16, "whole tiles only", on_dtype(Transpose{.whole_tiles_only = true})},
  };
  return joined(all, scaled_kernels(false));
}

inline std::vector<PlantedKernel> right_kernels() {
  const DType f32 = kFloat32, f16 = kFloat16, bf16 = kBFloat16;
  const std::vector<PlantedKernel> all = {
      {"add", f32, "blocks of 8 and a tail", planted<Add>(Bug::none)},
      {"add", bf16, "blocks of 8 and a tail", planted<Add>(Bug::none)},
      {"relu", f16, "a comparison", relu(Bug::none)},
      {"sigmoid", f16, "exp(-abs(x))", sigmoid(Bug::none)},
      {"gelu", f32, "erf", gelu(Bug::none)},
      {"sum", f32, "32 lanes and a tree", planted<SumRows>(Bug::none)},
      {"sum", f16, "32 lanes and a tree", planted<SumRows>(Bug::none)},
      {"sum", f32, "from the last to the first", row_kernel(sum_backwards)},
      {"sum", f32, "pairwise", row_kernel(sum_pairwise)},
      {"sum", f32, "four sums", row_kernel(sum_in_four)},
      {"sum", f32, "compensated", row_kernel(sum_compensated)},
      {"sum", bf16, "in double", row_kernel(sum_in_double)},
      {"norm", f32, "scaled by a power of two", row_kernel(norm_scaled)},
      {"logsumexp", f32, "in double", row_kernel(logsumexp_in_double)},
      {"mm", f32, "tiles of 16", planted<Gemm>(Bug::none)},
      {"mm", bf16, "tiles of 16", planted<Gemm>(Bug::none)},
      {"mm", f32, "plain dot products", gemm_kernel(Loops::dot)},
      {"mm", f32, "fused multiply-adds", gemm_kernel(Loops::fma)},
      {"mm", f16, "from the last k to the first", gemm_kernel(Loops::backwards)},
      {"mm", f32, "k split in two", gemm_kernel(Loops::split_k)},
      {"mm", f16, "in double", gemm_kernel(Loops::in_double)},
      {"softmax", f32, "one pass with rescaling", planted<Softmax>(Bug::none)},
      {"softmax", f16, "one pass with rescaling", planted<Softmax>(Bug::none)},
      {"softmax", f32, "in place: one pass with rescaling", planted<Softmax>(Bug::none), true},
      {"softmax", f32, "an output that is read again",
       planted<Softmax>(Bug::softmax_scratch_in_output)},
      {"softmax", f32, "three passes", on_dtype(SoftmaxVariant{})},
      {"softmax", f32, "by exp2", on_dtype(SoftmaxVariant{.base_two = true})},
      {"softmax", bf16, "sum in double", on_dtype(SoftmaxVariant{.in_double = true})},
      {"layer_norm", f32, "two passes", planted<LayerNorm>(Bug::none)},
      {"layer_norm", f16, "two passes", planted<LayerNorm>(Bug::none)},
      {"layer_norm", f32, "in place: two passes", planted<LayerNorm>(Bug::none), true},
      {"layer_norm", f32, "Welford's updates", on_dtype(LayerNormVariant{})},
      {"layer_norm", f32, "one pass in double", on_dtype(LayerNormVariant{.welford = false})},
      {"exp", f16, "the C library's", map([](float x) { return std::exp(x); })},
      {"expm1", f32, "the C library's", map([](float x) { return std::expm1(x); })},
      {"log", f32, "the C library's", map([](float x) { return std::log(x); })},
      {"log1p", bf16, "the C library's", map([](float x) { return std::log1p(x); })},
      {"sin", f32, "in double", map(sin_in_double)},
      {"log10", f32, "log(x) log10(e)", map(log10_by_log)},
      {"tan", f32, "sin(x) / cos(x)", map(tan_by_sines)},
      {"remainder", f32, "by fmod", map(remainder_by_fmod)},
      {"tanh", f32, "by expm1", map(tanh_by_expm1)},
      {"erf", f32, "the C library's", map([](float x) { return std::erf(x); })},
      {"pow", f32, "in double", map(pow_in_double)},
      {"rsqrt", f32, "1 / sqrt(x)", map(rsqrt_by_division)},
      {"sigmoid", f32, "1 / (1 + exp(-x))", map(sigmoid_by_exp)},
      {"silu", f32, "x / (1 + exp(-x))", map(silu_by_division)},
      {"softplus", f32, "log1p(exp(x)) up to 20", map(softplus_cut_off)},
      {"elu", f32, "expm1", map(elu_by_expm1)},
      {"gelu", f32, "0.5 x (1 + erf)", map(gelu_by_erf)},
      {"gelu", f32, "erfc", map(gelu_by_erfc)},
      {"dropout", f16, "times 1 / (1 - p)", on_dtype(Dropout{})},
      {"cumsum", f16, "one after another", on_dtype(PartialSums{})},
      {"cumsum", f32, "by doubling", on_dtype(PartialSums{.doubling = true})},
      {"prod", f16, "from the last to the first", row_kernel(prod_backwards)},
      {"prod", f32, "two products", row_kernel(prod_in_two)},
      {"var", f32, "two passes", row_kernel(var_two_passes)},
      {"var", f16, "Welford's updates", row_kernel(var_welford)},
      {"std", f32, "two passes", row_kernel(std_two_passes)},
      {"argmax", f32, "the first of equal values", ArgMax{}},
      {"all", f32, "one after another", All{}},
      {"batch_norm", f32, "weight and deviation in one factor", on_dtype(BatchNorm{})},
      {"bmm", f32, "fused multiply-adds", on_dtype(Bmm{})},
      {"linear_relu", f32, "relu of the sum", on_dtype(LinearActivation{.activation = relu_of})},
      {"linear_gelu", f16, "of the sum in fp32",
       on_dtype(LinearActivation{.activation = gelu_tanh})},
      {"linear_gelu", f16, "of the stored sum",
       on_dtype(LinearActivation{.activation = gelu_tanh, .store_sum = true})},
      {"nll_loss", f16, "one sum", on_dtype(NllLoss{})},
      {"mse_loss", f16, "losses stored in fp16",
       on_dtype(MeanLoss{.f = squared_difference, .store_losses = true})},
      {"smooth_l1_loss", f32, "one sum", on_dtype(MeanLoss{.f = smooth_difference})},
      {"binary_cross_entropy", f32, "log1p(-p)", on_dtype(MeanLoss{.f = bce})},
      {"binary_cross_entropy_with_logits", f32, "max(x, 0) - t x + log1p(exp(-abs(x)))",
       on_dtype(MeanLoss{.f = logits_bce})},
      {"kl_div", f32, "t log t - t x", on_dtype(MeanLoss{.f = kl})},
      {"scatter_add", f32, "in the order of the indices", on_dtype(ScatterAdd{})},
      {"transpose", f16, "tiles and a remainder", on_dtype(Transpose{})},
  };
  return joined(all, scaled_kernels(true));
}

/// The checker's result: "passed", or the first fault that it found.
inline std::string result_of(const PlantedKernel& planted) {
  KernelCheckOptions options{
      .dtype = planted.dtype, .in_place = planted.in_place, .shrink = false, .stop_at_first = true};
  if (std::string(planted.op) == "add") options.layouts.push_back(Layout::every_second);
  const KernelReport report = check_kernel(planted.kernel, planted.op, options);
  std::string faults;
  for (const KernelFinding& finding : report.findings) {
    faults += (faults.empty() ? "" : ", ") + std::string(name(finding.fault));
  }
  return faults.empty() ? "passed" : faults;
}

inline std::string row(const PlantedKernel& planted) {
  return "| `" + std::string(planted.op) + "` | " + std::string(halfgrad::name(planted.dtype)) +
         " | " + planted.what + " | " + result_of(planted) + " |";
}

}  // namespace halfgrad::testing::planted
