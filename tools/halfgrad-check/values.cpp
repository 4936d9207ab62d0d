#include "values.h"

#include <filesystem>

#include <halfgrad/core/fail.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>

namespace halfgrad::check {
namespace {

struct StoredCase {
  std::vector<Tensor> inputs;
  Tensor output;  // undefined if the files contain none
};

io::TensorMap load(const std::filesystem::path& file) {
  if (file.extension() == ".safetensors") return io::load_safetensors(file).tensors;
  if (file.extension() == ".npz") return io::load_npz(file);
  if (file.extension() == ".npy") return {{file.stem().string(), io::load_npy(file)}};
  detail::fail("load_case", "expected .safetensors, .npz or .npy, got {}", file.string());
}

std::string input_name(std::size_t i) { return "input" + std::to_string(i); }

std::string name_of(DType dtype) { return std::string(name(dtype)); }

StoredCase load_case(const std::vector<std::string>& files) {
  io::TensorMap tensors;
  for (const std::string& file : files) tensors.merge(load(file));
  StoredCase stored;
  for (auto next = tensors.extract(input_name(0)); !next.empty();
       next = tensors.extract(input_name(stored.inputs.size()))) {
    stored.inputs.push_back(next.mapped());
  }
  if (auto output = tensors.extract("output"); !output.empty()) stored.output = output.mapped();
  tensors.erase("expected");
  tensors.erase("allowed");
  if (stored.inputs.empty() || !tensors.empty()) {
    detail::fail("load_case", "expected input0, input1, ... and output, got {}",
                 tensors.empty() ? "no input0" : tensors.begin()->first);
  }
  return stored;
}

}  // namespace

testing::KernelReport judge_files(const std::string& name, const std::vector<std::string>& files,
                                  const testing::Kernel& kernel,
                                  const testing::KernelCheckOptions& options) {
  const StoredCase stored = load_case(files);
  const testing::KernelOp op = testing::kernel_op(name);
  std::vector<Values> operands;
  for (const Tensor& input : stored.inputs) operands.push_back(values_of(input));
  const testing::Dims dims = dims_of(op, operands);

  testing::KernelReport report;
  report.op = name;
  report.dtype = stored.inputs[0].dtype();
  report.output = options.output            ? *options.output
                  : stored.output.defined() ? stored.output.dtype()
                                            : op.output_dtype(report.dtype);
  report.accumulate =
      options.accumulate ? *options.accumulate : promote_types(report.dtype, kFloat32);
  const std::vector<testing::KernelContract> contracts =
      testing::contracts(op, {report.dtype, report.output, report.accumulate}, options);
  if (kernel) {
    for (const testing::KernelContract& contract : contracts) {
      report.add(run_case(kernel, op, op.output(dims), operands, operands, contract),
                 {.dims = dims, .contract = contract});
    }
    report.judge_bias();
    return report;
  }
  if (!stored.output.defined()) {
    detail::fail("judge_files", "expected a tensor called output, got none");
  }
  report.add(judge_output(op, operands, stored.output.to_vector<double>(), contracts.front()),
             {.dims = dims, .contract = contracts.front()});
  report.judge_bias();
  return report;
}

void save_case(const std::string& file, const testing::KernelReport& report) {
  const testing::ShrunkCase& shrunk = report.shrunk.value();
  const testing::KernelOp op = testing::kernel_op(report.op);
  const std::vector<OperandSpec> specs = op.operands(shrunk.dims);
  io::TensorMap tensors;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    const bool number = specs[i].kind == OperandSpec::Kind::number;
    const bool flag = specs[i].kind == OperandSpec::Kind::boolean;
    tensors[input_name(i)] = tensor_of(shrunk.operands[i].data, shrunk.operands[i].sizes)
                                 .to(number ? report.dtype
                                     : flag ? kBool
                                            : kInt64);
  }
  const testing::ErrorBudget budget =
      testing::error_budget(op, shrunk.operands, report.accumulate, report.output);
  tensors["expected"] = tensor_of(budget.expected, op.output(shrunk.dims));
  tensors["allowed"] = tensor_of(budget.allowed, op.output(shrunk.dims));
  io::save_safetensors(file, tensors,
                       {{"op", report.op},
                        {"dtype", name_of(report.dtype)},
                        {"output", name_of(report.output)},
                        {"accumulate", name_of(report.accumulate)},
                        {"fault", testing::name(shrunk.fault)},
                        {"message", shrunk.message}});
}

}  // namespace halfgrad::check
