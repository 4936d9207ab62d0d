#include <cmath>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/linear_activation.h>
#include <halfgrad/autograd/mlp.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/attention_tiles.h>
#include <halfgrad/autograd/transformer.h>
#include <halfgrad/core/gemm.h>
#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/thorough.h>

namespace halfgrad::testing {
namespace {

using Run = std::function<Tensor(const std::vector<Tensor>&)>;

/// halfgrad's own functions with the parameters of the composite kernel ops.
const std::map<std::string, Run>& own_composites() {
  using In = std::vector<Tensor>;
  static const std::map<std::string, Run> runs = {
      {"sum", [](const In& in) { return sum(in[0], Shape{1}); }},
      {"mean", [](const In& in) { return mean(in[0], Shape{1}); }},
      {"cumsum", [](const In& in) { return cumsum(in[0], 1); }},
      {"norm", [](const In& in) { return norm(in[0], 2, Shape{1}); }},
      {"logsumexp", [](const In& in) { return logsumexp(in[0], Shape{1}); }},
      {"softmax", [](const In& in) { return softmax(in[0], 1); }},
      {"log_softmax", [](const In& in) { return log_softmax(in[0], 1); }},
      {"layer_norm",
       [](const In& in) { return layer_norm(in[0], in[1].sizes(), in[1], in[2], 1e-5); }},
      {"rms_norm", [](const In& in) { return rms_norm(in[0], in[1].sizes(), in[1], 1e-5); }},
      {"prod", [](const In& in) { return prod(in[0], 1); }},
      {"var", [](const In& in) { return var(in[0], Shape{1}); }},
      {"std", [](const In& in) { return std(in[0], Shape{1}); }},
      {"amax", [](const In& in) { return amax(in[0], Shape{1}); }},
      {"amin", [](const In& in) { return amin(in[0], Shape{1}); }},
      {"argmax", [](const In& in) { return argmax(in[0], 1); }},
      {"argmin", [](const In& in) { return argmin(in[0], 1); }},
      {"argsort", [](const In& in) { return argsort(in[0], 1); }},
      {"all", [](const In& in) { return all(in[0], 1); }},
      {"any", [](const In& in) { return any(in[0], 1); }},
      {"batch_norm",
       [](const In& in) { return batch_norm(in[0], in[1], in[2], {}, {}, true, 0.1, 1e-5); }},
      {"group_norm", [](const In& in) { return group_norm(in[0], 2, in[1], in[2]); }},
      {"rope", [](const In& in) { return rope(in[0]); }},
      {"mm", [](const In& in) { return mm(in[0], in[1]); }},
      {"matmul", [](const In& in) { return matmul(in[0], in[1]); }},
      {"bmm", [](const In& in) { return bmm(in[0], in[1]); }},
      {"mv", [](const In& in) { return mv(in[0], in[1]); }},
      {"dot", [](const In& in) { return dot(in[0], in[1]); }},
      {"outer", [](const In& in) { return outer(in[0], in[1]); }},
      {"linear", [](const In& in) { return linear(in[0], in[1], in[2]); }},
      {"linear_relu", [](const In& in) { return linear_relu(in[0], in[1], in[2]); }},
      {"linear_gelu", [](const In& in) { return linear_gelu(in[0], in[1], in[2]); }},
      {"mlp",
       [](const In& in) {
         return mlp(in[0], {in[1], in[2], in[3]}, {in[4], in[5], in[6]});
       }},
      {"addmm", [](const In& in) { return addmm(in[0], in[1], in[2]); }},
      {"baddbmm", [](const In& in) { return baddbmm(in[0], in[1], in[2]); }},
      {"cross_entropy", [](const In& in) { return cross_entropy(in[0], in[1]); }},
      {"nll_loss", [](const In& in) { return nll_loss(in[0], in[1]); }},
      {"mse_loss", [](const In& in) { return mse_loss(in[0], in[1]); }},
      {"l1_loss", [](const In& in) { return l1_loss(in[0], in[1]); }},
      {"smooth_l1_loss", [](const In& in) { return smooth_l1_loss(in[0], in[1]); }},
      {"huber_loss", [](const In& in) { return huber_loss(in[0], in[1]); }},
      {"binary_cross_entropy", [](const In& in) { return binary_cross_entropy(in[0], in[1]); }},
      {"binary_cross_entropy_with_logits",
       [](const In& in) { return binary_cross_entropy_with_logits(in[0], in[1]); }},
      {"kl_div", [](const In& in) { return kl_div(in[0], in[1]); }},
      {"transpose", [](const In& in) { return transpose(in[0], 0, 1); }},
      {"cat", [](const In& in) { return cat(in, 1); }},
      {"stack", [](const In& in) { return stack(in, 1); }},
      {"gather", [](const In& in) { return gather(in[0], 1, in[1]); }},
      {"scatter_add", [](const In& in) { return scatter_add(in[0], 1, in[1], in[2]); }},
      {"index_select", [](const In& in) { return index_select(in[0], 0, in[1]); }},
      {"embedding", [](const In& in) { return embedding(in[0], in[1]); }},
      {"masked_fill", [](const In& in) { return masked_fill(in[0], in[1], 0.5); }},
  };
  return runs;
}

Kernel kernel_of(const Run& run) {
  return [run](const std::vector<Array>& inputs, const Array& output) {
    std::vector<Tensor> tensors;
    for (const Array& input : inputs) tensors.emplace_back(input);
    output.copy_(run(tensors).array());
  };
}

/// Expects every element within budget, and one that uses enough of its budget to show that budgets
/// are not far too wide. Not so in float64, where halfgrad and the reference may call the same
/// function of the C library.
void expect_sound(const std::string& op, const Run& run) {
  const bool exact = kernel_op(op).bitwise;
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    const bool same_in_two_others = exact && (dtype == kFloat64 || dtype == kBFloat16);
    if (same_in_two_others || (!kThorough && dtype != kFloat16)) continue;
    KernelCheckOptions options{.dtype = dtype};
    options.layouts = {Layout::contiguous, Layout::misaligned, Layout::padded_rows,
                       Layout::every_second, Layout::transposed};
    // Other sizes in one dtype only: they are many.
    if (dtype == kFloat16) options.dims = check_dims_of(kernel_op(op)).all_kinds;
    const KernelReport report = check_kernel(kernel_of(run), op, options);
    EXPECT_TRUE(report.passed()) << to_text(report);
    // The most are those of a loss of one element, whose logits may be -inf.
    EXPECT_LE(report.use.unjudged, report.use.elements / 8) << to_text(report);
    // In 16 bits a result may have one right rounding.
    EXPECT_TRUE(dtype != kFloat32 || report.warnings().empty()) << to_text(report);
    if (exact || dtype == kFloat64) continue;
    EXPECT_GE(report.worst.used, dtype == kFloat32 ? 0.05 : 0.15) << to_text(report);
  }
}

// Subnormal numbers keep their value if products do not use the processor's bf16 dot product.
class OwnOps : public ::testing::Test {
 protected:
  void SetUp() override { backends::cpu::set_allow_bf16_dot(false); }
  void TearDown() override { backends::cpu::set_allow_bf16_dot(true); }
};

TEST_F(OwnOps, CompositesStayWithinTheirBudgets) {
  for (const std::string& op : composite_kernel_ops()) {
    if (op != "mlp_cross_entropy") expect_sound(op, own_composites().at(op));  // see below
  }
}

TEST_F(OwnOps, OpsOfTheTableStayWithinTheirBudgets) {
  for (const OpEntry& op : all_ops()) {
    const bool has_own_test =
        op.name == "mlp_cross_entropy" || op.name == "scaled_dot_product_attention";
    if (own_composites().contains(op.name) || has_own_test) continue;
    expect_sound(op.name, op.examples.front().run);
  }
}

// Its budget is that of two layers before the loss, of which a mean uses little.
TEST_F(OwnOps, AnMlpWithItsLossIsNotAccused) {
  const KernelReport report = check_kernel(
      kernel_of([](const std::vector<Tensor>& in) {
        return mlp_cross_entropy(in[0], {in[1], in[2], in[3]}, {in[4], in[5], in[6]}, in[7]);
      }),
      "mlp_cross_entropy");
  EXPECT_TRUE(report.passed()) << to_text(report);
}

halfgrad::detail::AttentionOperands attention_of(const Array& query, const Array& key,
                                                 const Array& value, bool is_causal) {
  const double scale = 1 / std::sqrt(static_cast<double>(query.size(2)));
  return {query, key, value, {}, {.scale = scale, .is_causal = is_causal}};
}

// Both outputs: y, and the logsumexp that backward reads.
TEST_F(OwnOps, AttentionStaysWithinItsBudget) {
  for (const bool is_causal : {false, true}) {
    const std::string op =
        std::string("scaled_dot_product_attention") + (is_causal ? "_causal" : "");
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      const Kernel kernel([is_causal](const std::vector<Array>& in, const std::vector<Array>& out) {
        const auto contiguous = [](const Array& x) {
          return Array::empty(x.sizes(), x.dtype(), x.device());
        };
        const Array y = contiguous(out[0]), lse = contiguous(out[1]);
        halfgrad::detail::attention_on_cpu(attention_of(in[0], in[1], in[2], is_causal), y, lse);
        out[0].copy_(y);
        out[1].copy_(lse);
      });
      const KernelReport report = check_kernel(kernel, op, {.dtype = dtype});
      EXPECT_TRUE(report.passed()) << to_text(report);
    }
  }
}

TEST_F(OwnOps, TheGradientOfAttentionStaysWithinItsBudget) {
  for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
    const Kernel kernel([](const std::vector<Array>& in, const std::vector<Array>& out) {
      const auto gradients = halfgrad::detail::attention_gradient_on_cpu(
          attention_of(in[1], in[2], in[3], false), in[0], in[4],
          in[5].to(promote_types(in[0].dtype(), kFloat32)).contiguous());
      out[0].copy_(gradients.query);
      out[1].copy_(gradients.key);
      out[2].copy_(gradients.value);
    });
    const KernelReport report =
        check_kernel(kernel, "scaled_dot_product_attention_backward", {.dtype = dtype});
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

// With it, where there is one, they count as 0.
TEST_F(OwnOps, Bf16DotProductsMayFlushSubnormals) {
  backends::cpu::set_allow_bf16_dot(true);
  for (const char* op : {"mm", "bmm", "mv", "linear", "baddbmm"}) {
    KernelCheckOptions options{.dtype = kBFloat16};
    options.leniency.flush_subnormals = true;
    const KernelReport report = check_kernel(kernel_of(own_composites().at(op)), op, options);
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

// A limit on the operands does not change indices.
TEST_F(OwnOps, LimitedOperandsStayWithinTheirBudgets) {
  for (const char* op : {"cross_entropy", "gather", "softmax"}) {
    KernelCheckOptions options{.dtype = kFloat16};
    options.leniency.max_abs = 1;
    const KernelReport report = check_kernel(kernel_of(own_composites().at(op)), op, options);
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}

}  // namespace
}  // namespace halfgrad::testing
