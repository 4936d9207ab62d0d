#include <halfgrad/testing/op_parameters.h>

#include <cstring>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <halfgrad/autograd/group_norm.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/testing/kernel_formula.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/stored_case.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>
#include <halfgrad/tests/testing/planted/backward.h>
#include <halfgrad/tests/testing/planted/optimizer_steps.h>

namespace halfgrad::testing {
namespace {

using Tensors = std::vector<Tensor>;
using RunOp = std::function<Tensor(const Tensors&)>;

KernelReport parameters_report(const char* op, const RunOp& run, const OpParameters& parameters,
                               DType dtype = kFloat32) {
  const Kernel kernel = [run](const std::vector<Array>& in, const Array& out) {
    Tensors inputs;
    for (const Array& array : in) inputs.emplace_back(array);
    Tensor(out).copy_(run(inputs));
  };
  return check_kernel(kernel, op,
                      {.dtype = dtype,
                       .parameters = parameters,
                       .dims = {{3, 4, 7}, {5, 2, 64}, {12, 3, 12}},
                       .shrink = false,
                       .repeat = 0});
}

void expect_op_passes(const char* op, const RunOp& run, const OpParameters& parameters) {
  for (const DType dtype : {kFloat32, kFloat16}) {
    const KernelReport report = parameters_report(op, run, parameters, dtype);
    EXPECT_TRUE(report.passed()) << to_text(report);
  }
}
void expect_op_fails(const char* op, const RunOp& run, const OpParameters& parameters) {
  const KernelReport report = parameters_report(op, run, parameters);
  EXPECT_FALSE(report.findings.empty()) << to_text(report);
}

TEST(OpParameters, NormsHaveTheirOwnEps) {
  const auto norms = [](double eps) {
    return std::vector<std::pair<const char*, RunOp>>{
        {"layer_norm",
         [=](const Tensors& in) { return layer_norm(in[0], in[1].sizes(), in[1], in[2], eps); }},
        {"rms_norm", [=](const Tensors& in) { return rms_norm(in[0], in[1].sizes(), in[1], eps); }},
        {"batch_norm",
         [=](const Tensors& in) {
           return batch_norm(in[0], in[1], in[2], {}, {}, true, 0.1, eps);
         }},
        {"group_norm", [=](const Tensors& in) { return group_norm(in[0], 2, in[1], in[2], eps); }}};
  };
  for (const auto& [op, run] : norms(1e-3)) {
    expect_op_passes(op, run, {.eps = 1e-3});
    expect_op_fails(op, run, {});
  }
  for (const auto& [op, run] : norms(1e-5)) expect_op_fails(op, run, {.eps = 1e-6});
}

TEST(OpParameters, RowOpsGoAlongAnotherDimension) {
  for (const std::int64_t ndim : {2, 3}) {
    for (std::int64_t dim = 0; dim < ndim; ++dim) {
      const OpParameters parameters{.dim = dim, .ndim = ndim};
      expect_op_passes(
          "softmax", [=](const Tensors& in) { return softmax(in[0], dim); }, parameters);
      expect_op_passes(
          "sum", [=](const Tensors& in) { return sum(in[0], Shape{dim}); }, parameters);
      expect_op_passes(
          "argmax", [=](const Tensors& in) { return argmax(in[0], dim); }, parameters);
      const RunOp norm = [=](const Tensors& in) {
        const Tensor x = in[0].transpose(dim, -1);
        return layer_norm(x, in[1].sizes(), in[1], in[2], 1e-5).transpose(dim, -1);
      };
      expect_op_passes("layer_norm", norm, parameters);
    }
  }
  const RunOp softmax_backward = [](const Tensors& in) {
    const Tensor y = in[1].to(kFloat32), g = in[0].to(kFloat32);
    return y * (g - sum(g * y, Shape{0}, true));
  };
  expect_op_passes("softmax_backward", softmax_backward, {.dim = 0});
}

TEST(OpParameters, AKernelAlongTheWrongDimensionFails) {
  const RunOp last = [](const Tensors& in) { return softmax(in[0], -1); };
  expect_op_fails("softmax", last, {.dim = 0});
  expect_op_fails("softmax", last, {.dim = 1, .ndim = 3});
  const RunOp first_of_three = [](const Tensors& in) { return softmax(in[0], 0); };
  expect_op_fails("softmax", first_of_three, {.dim = 1, .ndim = 3});
  // Means of columns hide this mistake from inputs whose rows have large means.
  const RunOp one_pass = [](const Tensors& in) {
    const Tensor x = in[0].t(), mean_of_squares = mean(x * x, Shape{1}, true);
    const Tensor centre = mean(x, Shape{1}, true);
    const Tensor y = (x - centre) / sqrt(mean_of_squares - centre * centre + 1e-5);
    return (y * in[1] + in[2]).t();
  };
  expect_op_fails("layer_norm", one_pass, {.dim = 0});
}

TEST(OpParameters, LossesHaveEachReduction) {
  using Loss = std::function<Tensor(const Tensor&, const Tensor&, Reduction)>;
  const std::vector<std::pair<const char*, Loss>> losses = {
      {"cross_entropy", [](const Tensor& x, const Tensor& t,
                           Reduction r) { return cross_entropy(x, t, {.reduction = r}); }},
      {"nll_loss",
       [](const Tensor& x, const Tensor& t, Reduction r) { return nll_loss(x, t, {}, r); }},
      {"mse_loss", [](const Tensor& x, const Tensor& t, Reduction r) { return mse_loss(x, t, r); }},
      {"l1_loss", [](const Tensor& x, const Tensor& t, Reduction r) { return l1_loss(x, t, r); }},
      {"smooth_l1_loss",
       [](const Tensor& x, const Tensor& t, Reduction r) { return smooth_l1_loss(x, t, r); }},
      {"huber_loss",
       [](const Tensor& x, const Tensor& t, Reduction r) { return huber_loss(x, t, r); }},
      {"binary_cross_entropy", [](const Tensor& x, const Tensor& t,
                                  Reduction r) { return binary_cross_entropy(x, t, {}, r); }},
      {"kl_div", [](const Tensor& x, const Tensor& t, Reduction r) { return kl_div(x, t, r); }}};
  for (const auto& [op, loss] : losses) {
    for (const Reduction reduction : {kNone, kMean, kSum}) {
      expect_op_passes(
          op,
          [&loss = loss, reduction](const Tensors& in) { return loss(in[0], in[1], reduction); },
          {.reduction = reduction});
    }
    expect_op_fails(op, [&loss = loss](const Tensors& in) { return loss(in[0], in[1], kMean); },
                    {.reduction = kSum});
    expect_op_fails(op,
                    [&loss = loss](const Tensors& in) { return 1.001 * loss(in[0], in[1], kNone); },
                    {.reduction = kNone});
  }
}

/// The gradient of cross entropy by its logits, for dlosses [m].
Tensor gradient_of_losses(const Tensors& in) {
  const Tensor p = softmax(in[1].to(kFloat32), 1);
  return in[0].to(kFloat32).unsqueeze(1) * (p - one_hot(in[2], in[1].size(1)).to(kFloat32));
}

TEST(OpParameters, CrossEntropyBackwardHasEachReduction) {
  expect_op_passes("cross_entropy_backward", gradient_of_losses, {.reduction = kNone});
  const RunOp of_sum = [](const Tensors& in) {
    return gradient_of_losses({in[0].expand({in[1].size(0)}), in[1], in[2]});
  };
  expect_op_passes("cross_entropy_backward", of_sum, {.reduction = kSum});
  expect_op_fails("cross_entropy_backward", of_sum, {});
}

/// A kernel with several outputs at few sizes in float16.
KernelReport parameters_report(const planted::BackwardKernel& kernel,
                               const OpParameters& parameters, std::optional<DType> output = {}) {
  return check_kernel(kernel.kernel(), kernel.op,
                      {.dtype = kFloat16,
                       .output = output,
                       .parameters = parameters,
                       .dims = {{3, 1, 7}, {12, 1, 40}},
                       .shrink = false,
                       .repeat = 0});
}

/// layer_norm_backward by a kernel that reads its statistics as float16, whatever they are.
void reads_statistics_as_half(const planted::Calls& c, int mistake) {
  std::vector<Array> in = c.in;
  for (const std::size_t i : {2, 3}) {
    in[i] = Array::empty(c.in[i].sizes(), kFloat16, {});
    const auto bytes = static_cast<std::size_t>(2 * in[i].numel());
    std::memcpy(in[i].data(), c.in[i].data(), bytes);
  }
  planted::layer_norm_backward({in, c.out}, mistake);
}

TEST(OpParameters, StatisticsMayBeFloat32Beside16Bits) {
  const OpParameters wide{.operand_dtypes = {{2, kFloat32}, {3, kFloat32}}};
  const KernelReport right =
      parameters_report({"layer_norm_backward", 0, "", planted::layer_norm_backward}, wide);
  EXPECT_TRUE(right.passed()) << to_text(right);
  const planted::BackwardKernel half{"layer_norm_backward", 0, "", reads_statistics_as_half};
  EXPECT_TRUE(parameters_report(half, {}).passed());
  EXPECT_FALSE(parameters_report(half, wide).passed());
}

TEST(OpParameters, StatesMayBeFloat32Beside16Bits) {
  const OpParameters wide{.operand_dtypes = {{2, kFloat32}, {3, kFloat32}},
                          .output_dtypes = {{1, kFloat32}, {2, kFloat32}}};
  const KernelReport right = parameters_report({"adam_step", 0, "", planted::adam_step}, wide);
  EXPECT_TRUE(right.passed()) << to_text(right);
  const auto rounds_states = [](const planted::Calls& c, int) {
    planted::adam_step(c, 0);
    for (std::int64_t i = 0; i < c.out[1].numel(); ++i) {
      float& m = c.out[1].data_as<float>()[i];
      m = planted::through<Half>(m);
    }
  };
  EXPECT_FALSE(parameters_report({"adam_step", 0, "", rounds_states}, wide).passed());
}

TEST(OpParameters, IndicesMayBeInt32) {
  const RunOp embedding_of_int32 = [](const Tensors& in) {
    EXPECT_EQ(in[1].dtype(), kInt32);
    return index_select(in[0], 0, in[1].to(kInt64));
  };
  expect_op_passes("embedding", embedding_of_int32, {.operand_dtypes = {{1, kInt32}}});
}

TEST(OpParameters, AreRefusedWhereTheOpDoesNotHaveThem) {
  const auto message = [](const char* op, const OpParameters& parameters) {
    return message_of<std::invalid_argument>([&] { kernel_op(op, parameters); });
  };
  EXPECT_EQ(
      message("softmax", {.eps = 1e-6}),
      "softmax: expected no eps, which only these ops have: layer_norm, rms_norm, batch_norm, "
      "group_norm, adam_step, adamw_step, fused_adam_step, fused_adamw_step");
  EXPECT_TRUE(message("mm", {.dim = 0})
                  .starts_with("mm: expected no dim, which only these ops have: sum, mean, "));
  EXPECT_TRUE(message("relu", {.reduction = kSum}).find("cross_entropy, nll_loss") !=
              std::string::npos);
  EXPECT_EQ(message("softmax", {.dim = 2}), "softmax: expected a dim from -2 to 1, got 2");
  EXPECT_EQ(message("softmax", {.ndim = 4}), "softmax: expected 2 or 3 as ndim, got 4");
  EXPECT_EQ(message("layer_norm", {.eps = -1}),
            "layer_norm: expected a finite eps from 0 on, got -1");
  EXPECT_EQ(message("embedding", {.operand_dtypes = {{1, kFloat32}}}),
            "embedding: expected int64 or int32 for operand 1, got float32");
  EXPECT_EQ(message("sum", {.operand_dtypes = {{1, kFloat32}}}),
            "sum: expected the position of an operand, below 1, got 1");
  EXPECT_FALSE(message("sum", {.output_dtypes = {{0, kFloat16}}}).empty());
  EXPECT_FALSE(message("dequantize_float8_e5m2", {.operand_dtypes = {{0, kFloat16}}}).empty());
}

TEST(OpParameters, AreInReportsAndStoredCases) {
  const RunOp last = [](const Tensors& in) { return softmax(in[0], -1); };
  const KernelReport report =
      check_kernel([last](const std::vector<Array>& in,
                          const Array& out) { Tensor(out).copy_(last({Tensor(in[0])})); },
                   "softmax", {.parameters = {.dim = 0}, .dims = {{3, 1, 4}}, .repeat = 0});
  EXPECT_TRUE(to_text(report).starts_with("softmax with dim = 0, float32 -> float32"))
      << to_text(report);
  EXPECT_NE(to_json(report).find("\"parameters\": {\"dim\": 0}"), std::string::npos);
  ASSERT_TRUE(report.shrunk.has_value());
  const Shape& sizes = report.shrunk->operands[0].sizes;
  EXPECT_EQ(sizes[0], report.shrunk->dims.k) << to_string(sizes);
  const tests::Folder folder;
  const std::string file = folder / "parameters.safetensors";
  save_case(file, report);
  const io::Safetensors saved = io::load_safetensors(file);
  EXPECT_EQ(saved.metadata.at("parameters"), "{\"dim\": 0}");
  EXPECT_EQ(saved.tensors.at("expected").sizes(), sizes);
}

TEST(Float8Ops, TellRoundingSaturationAndNan) {
  const KernelOp op = kernel_op("quantize_float8_e4m3fn");
  const double nan = std::nan("");
  const Values x{{1, 7}, {1.0625, 1.1875, 448, 1e6, nan, 0x1p-10, -0x1.8p-10}};
  const ErrorBudget budget = error_budget(op, {x, {{}, {1}}}, kFloat32, kUInt8);
  const std::vector<double> expected{1, 1.25, 448, 448, nan, 0, -0x1p-9};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(budget_used(expected[i], budget.expected[i], budget.allowed[i], kUInt8), 0) << i;
    EXPECT_LT(budget.allowed[i], 1e-12) << i;
  }
  EXPECT_EQ(op.decoded(0x7e), 448);
  EXPECT_THROW(check_kernel([](const std::vector<Array>&, const Array&) {},
                            "quantize_float8_e4m3fn", {.output = kFloat16}),
               std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::testing
