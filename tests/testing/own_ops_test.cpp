#include <map>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>

namespace halfgrad::testing {
namespace {

using Run = std::function<Tensor(const std::vector<Tensor>&)>;

/// halfgrad's own functions, called as the composite kernel ops are defined.
const std::map<std::string, Run>& own_composites() {
  using In = std::vector<Tensor>;
  static const std::map<std::string, Run> runs = {
      {"sum", [](const In& in) { return sum(in[0], Shape{1}); }},
      {"mean", [](const In& in) { return mean(in[0], Shape{1}); }},
      {"norm", [](const In& in) { return norm(in[0], 2, Shape{1}); }},
      {"logsumexp", [](const In& in) { return logsumexp(in[0], Shape{1}); }},
      {"softmax", [](const In& in) { return softmax(in[0], 1); }},
      {"log_softmax", [](const In& in) { return log_softmax(in[0], 1); }},
      {"layer_norm",
       [](const In& in) { return layer_norm(in[0], in[1].sizes(), in[1], in[2], 1e-5); }},
      {"rms_norm", [](const In& in) { return rms_norm(in[0], in[1].sizes(), in[1], 1e-5); }},
      {"mm", [](const In& in) { return mm(in[0], in[1]); }},
      {"matmul", [](const In& in) { return matmul(in[0], in[1]); }},
      {"mv", [](const In& in) { return mv(in[0], in[1]); }},
      {"dot", [](const In& in) { return dot(in[0], in[1]); }},
      {"linear", [](const In& in) { return linear(in[0], in[1], in[2]); }},
      {"addmm", [](const In& in) { return addmm(in[0], in[1], in[2]); }},
      {"cross_entropy", [](const In& in) { return cross_entropy(in[0], in[1]); }},
      {"mse_loss", [](const In& in) { return mse_loss(in[0], in[1]); }},
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

void expect_sound(const std::string& op, const Run& run, DType dtype) {
  KernelCheckOptions options{.dtype = dtype};
  options.layouts = {Layout::contiguous, Layout::misaligned, Layout::padded_rows,
                     Layout::every_second, Layout::transposed};
  const KernelReport report = check_kernel(kernel_of(run), op, options);
  EXPECT_TRUE(report.passed()) << to_text(report);
}

TEST(OwnOps, CompositesStayWithinTheirBudgets) {
  for (const std::string& op : composite_kernel_ops()) {
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      expect_sound(op, own_composites().at(op), dtype);
    }
  }
}

TEST(OwnOps, TheTablesOpsStayWithinTheirBudgets) {
  for (const OpEntry& op : all_ops()) {
    if (own_composites().contains(op.name)) continue;
    for (const DType dtype : {kFloat64, kFloat32, kFloat16, kBFloat16}) {
      expect_sound(op.name, op.examples.front().run, dtype);
    }
  }
}

}  // namespace
}  // namespace halfgrad::testing
