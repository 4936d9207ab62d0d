#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <halfgrad/autograd/op_table/op_table.h>

/// PyTorch's op lists for CUDA autocast, read as facts, with elementwise ops that halfgrad does not
/// have yet. Ops in no list are Precision::any.
namespace halfgrad {
namespace {

const std::map<Precision, std::vector<std::string>> kLists{
    {Precision::tensor_core,
     {"addmm", "baddbmm", "bmm", "linear", "matmul", "mm", "mv", "scaled_dot_product_attention"}},
    {Precision::wide_range, {"exp",        "expm1",      "log",
                             "log2",       "log10",      "log1p",
                             "tan",        "reciprocal", "rsqrt",
                             "pow",        "square",     "softplus",
                             "layer_norm", "rms_norm",   "nll_loss",
                             "kl_div",     "l1_loss",    "smooth_l1_loss",
                             "huber_loss", "mse_loss",   "binary_cross_entropy_with_logits",
                             "logsumexp",  "acos",       "asin",
                             "cosh",       "sinh",       "erfinv",
                             "group_norm"}},
    {Precision::wide_accumulate, {"prod", "cumsum", "softmax", "log_softmax", "sum", "norm"}},
    {Precision::widest_operand, {"addcmul", "addcdiv", "dot", "scatter_add"}},
    {Precision::unsafe, {"binary_cross_entropy"}},
};

// Fused ops of this library that PyTorch does not list: cross_entropy is log_softmax and nll_loss
// there, in float32 from the logits on; linear with an activation, and mlp, keep the dtype of
// linear. mlp_cross_entropy is mlp and cross_entropy: its operands are those of mlp.
const std::map<std::string, Precision> kComposedInPyTorch{
    {"cross_entropy", Precision::wide_range},
    {"linear_relu", Precision::tensor_core},
    {"linear_gelu", Precision::tensor_core},
    {"mlp", Precision::tensor_core},
    {"mlp_cross_entropy", Precision::tensor_core}};

Precision expected(const std::string& op) {
  for (const auto& [precision, names] : kLists) {
    if (std::find(names.begin(), names.end(), op) != names.end()) return precision;
  }
  const auto composed = kComposedInPyTorch.find(op);
  return composed == kComposedInPyTorch.end() ? Precision::any : composed->second;
}

TEST(OpClasses, EqualPyTorchs) {
  ASSERT_GT(all_ops().size(), 40);
  for (const OpEntry& op : all_ops()) {
    EXPECT_EQ(static_cast<int>(op.precision), static_cast<int>(expected(op.name))) << op.name;
  }
}

}  // namespace
}  // namespace halfgrad
