#include <gtest/gtest.h>

#include <set>
#include <string>

#include <halfgrad/autograd/op_table.h>

namespace halfgrad {
namespace {

// A literal list, so that the test notices when an op is missing from the table.
const std::set<std::string> kOps = {
    // Elementwise
    "add", "sub", "mul", "div", "remainder", "fmod", "neg", "abs", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal", "square", "pow", "sin", "cos", "tan",
    "tanh", "sigmoid", "relu", "leaky_relu", "elu", "gelu", "silu", "softplus", "erf", "clamp",
    "maximum", "minimum", "where", "lerp", "addcmul", "addcdiv", "eq", "ne", "lt", "le", "gt", "ge",
    "logical_and", "logical_or", "logical_xor", "logical_not", "isfinite", "isinf", "isnan",
    "floor", "ceil", "round", "trunc", "sign",
    // Reductions; max and min are amax and amin, or argmax and argmin with gather, as sort and topk
    // are argsort with gather
    "sum", "mean", "var", "std", "amax", "amin", "argmax", "argmin", "prod", "norm", "logsumexp",
    "all", "any",
    // Shape
    "reshape", "transpose", "permute", "squeeze", "unsqueeze", "expand", "slice", "select",
    "flatten", "as_strided", "cat", "stack", "gather", "scatter_add", "index_select", "masked_fill",
    // Products
    "matmul", "mm", "bmm", "mv", "dot", "outer", "addmm", "baddbmm", "linear", "linear_relu",
    "linear_gelu",
    // Rows
    "softmax", "log_softmax", "layer_norm", "rms_norm", "batch_norm", "embedding", "one_hot",
    "dropout", "argsort", "cumsum",
    // Losses
    "cross_entropy", "nll_loss", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss",
    "binary_cross_entropy", "binary_cross_entropy_with_logits", "kl_div"};

TEST(OpTable, HasEveryOpOnce) {
  std::multiset<std::string> names;
  for (const OpEntry& op : all_ops()) names.insert(op.name);
  for (const std::string& name : kOps) EXPECT_EQ(names.count(name), 1) << name;
  for (const std::string& name : names) EXPECT_TRUE(kOps.contains(name)) << name << ": list it";
}

TEST(OpTable, EveryOpHasExamples) {
  for (const OpEntry& op : all_ops()) EXPECT_FALSE(op.examples.empty()) << op.name;
}

}  // namespace
}  // namespace halfgrad
