#include "values.h"

#include <filesystem>

#include <halfgrad/core/fail.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/testing/op_example.h>

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
  report.add(judge_output(op, operands, values_of(stored.output), contracts.front()),
             {.dims = dims, .contract = contracts.front()});
  report.judge_bias();
  return report;
}

}  // namespace halfgrad::check
