#include <halfgrad/testing/stored_case.h>

#include <algorithm>

#include <halfgrad/core/fail.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::testing {

std::vector<KernelCase> listed_cases(const KernelOp& op, const KernelCheckOptions& options) {
  KernelCheckOptions one_layout = options;
  one_layout.layouts = {Layout::contiguous};
  one_layout.in_place = false;
  std::vector<KernelCase> cases;
  for (const CaseGroup& group : case_groups(op, one_layout)) {
    for (const Hostile kind : group.kinds) {
      cases.push_back(group.shared);
      cases.back().inputs = kind;
    }
  }
  return cases;
}

std::string file_name(const KernelCase& kernel_case) {
  const Dims& d = kernel_case.dims;
  std::string kind(name(kernel_case.inputs));
  std::replace_if(
      kind.begin(), kind.end(), [](char c) { return c == ' ' || c == '-'; }, '_');
  return "m" + std::to_string(d.m) + "_n" + std::to_string(d.n) + "_k" + std::to_string(d.k) +
         (d.columns > 0 ? "_c" + std::to_string(d.columns) : "") + "-" + kind;
}

std::vector<Tensor> operand_tensors(const KernelOp& op, const std::vector<Values>& operands,
                                    DType dtype) {
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    tensors.push_back(
        tensor_of(operands[i].data, operands[i].sizes).to(operand_dtype(op, i, dtype)));
  }
  return tensors;
}

std::vector<ExpectedOutput> expected_outputs(const KernelOp& op, const Dims& dims,
                                             const std::vector<Values>& operands,
                                             const KernelContract& contract) {
  const std::vector<Shape> shapes = output_shapes(op, dims);
  std::vector<std::size_t> counts;
  for (const Shape& shape : shapes) counts.push_back(static_cast<std::size_t>(numel(shape)));
  const ErrorBudget budget =
      error_budget(op, operands, contract.accumulate, contract.output, contract.leniency, counts);
  std::vector<ExpectedOutput> outputs;
  std::ptrdiff_t first = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto end = first + static_cast<std::ptrdiff_t>(counts[i]);
    const auto part = [&](const std::vector<double>& all) {
      return tensor_of({all.begin() + first, all.begin() + end}, shapes[i]);
    };
    outputs.push_back(
        {output_dtype(op, i, contract.output), part(budget.expected), part(budget.allowed)});
    first = end;
  }
  return outputs;
}

std::string output_suffix(const KernelOp& op, std::size_t output) {
  return op.outputs.empty() ? "" : "_" + op.outputs[output].name;
}

void save_case(const std::filesystem::path& file, const KernelReport& report, const KernelOp& op) {
  if (!report.shrunk) {
    halfgrad::detail::fail("save_case", "expected a report with a smallest failing case, got none");
  }
  if (report.op != op.name) {
    halfgrad::detail::fail("save_case", "expected a report about {}, got one about {}", op.name,
                           report.op);
  }
  const ShrunkCase& shrunk = *report.shrunk;
  const std::vector<Tensor> inputs = operand_tensors(op, shrunk.operands, report.dtype);
  io::TensorMap tensors;
  for (std::size_t i = 0; i < inputs.size(); ++i) tensors["input" + std::to_string(i)] = inputs[i];
  const std::vector<ExpectedOutput> outputs = expected_outputs(
      op, shrunk.dims, shrunk.operands, {report.dtype, report.output, report.accumulate});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    tensors["expected" + output_suffix(op, i)] = outputs[i].expected;
    tensors["allowed" + output_suffix(op, i)] = outputs[i].allowed;
  }
  io::save_safetensors(file, tensors,
                       {{"op", report.op},
                        {"dtype", std::string(name(report.dtype))},
                        {"output", std::string(name(report.output))},
                        {"accumulate", std::string(name(report.accumulate))},
                        {"parameters", to_json(report.parameters)},
                        {"fault", name(shrunk.fault)},
                        {"message", shrunk.message}});
}

void save_case(const std::filesystem::path& file, const KernelReport& report) {
  save_case(file, report, report.shrunk ? kernel_op(report.op, report.parameters) : KernelOp{});
}

}  // namespace halfgrad::testing
