#include "values.h"

#include <algorithm>
#include <filesystem>

#include <halfgrad/core/fail.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/stored_case.h>

namespace halfgrad::check {
namespace {

struct StoredCase {
  std::vector<Tensor> inputs, outputs;
};

io::TensorMap load(const std::filesystem::path& file) {
  if (file.extension() == ".safetensors") return io::load_safetensors(file).tensors;
  if (file.extension() == ".npz") return io::load_npz(file);
  if (file.extension() == ".npy") return {{file.stem().string(), io::load_npy(file)}};
  detail::fail("load_case", "expected .safetensors, .npz or .npy, got {}", file.string());
}

std::string input_name(std::size_t i) { return "input" + std::to_string(i); }

StoredCase load_case(const testing::KernelOp& op, const std::vector<std::string>& files) {
  io::TensorMap tensors;
  for (const std::string& file : files) tensors.merge(load(file));
  StoredCase stored;
  for (auto next = tensors.extract(input_name(0)); !next.empty();
       next = tensors.extract(input_name(stored.inputs.size()))) {
    stored.inputs.push_back(next.mapped());
  }
  const std::size_t count = std::max<std::size_t>(1, op.outputs.size());
  for (std::size_t i = 0; i < count; ++i) {
    const std::string suffix = testing::output_suffix(op, i);
    if (auto output = tensors.extract("output" + suffix); !output.empty()) {
      stored.outputs.push_back(output.mapped());
    }
    tensors.erase("expected" + suffix);
    tensors.erase("allowed" + suffix);
  }
  if (stored.outputs.size() % count != 0) {
    detail::fail("load_case", "expected all of {} outputs or none, got {}", count,
                 stored.outputs.size());
  }
  if (stored.inputs.empty() || !tensors.empty()) {
    detail::fail("load_case", "expected input0, input1, ... and output, got {}",
                 tensors.empty() ? "no input0" : tensors.begin()->first);
  }
  return stored;
}

/// The dtype of the first operand without its own, or else of the output.
DType dtype_of(const testing::KernelOp& op, const StoredCase& stored) {
  for (std::size_t i = 0; i < stored.inputs.size(); ++i) {
    const DType dtype = stored.inputs[i].dtype();
    if (!op.operand_dtypes.contains(i) && is_floating_point(dtype)) return dtype;
  }
  const bool has_output = !stored.outputs.empty() && is_floating_point(stored.outputs[0].dtype());
  return has_output ? stored.outputs[0].dtype() : kFloat32;
}

/// Adds the dtypes in the file that differ from that of the first operand and output.
void add_own_dtypes(testing::OpParameters& parameters, const testing::KernelOp& op,
                    const StoredCase& stored, DType dtype) {
  for (std::size_t i = 0; i < stored.inputs.size(); ++i) {
    const DType own = stored.inputs[i].dtype();
    if (is_floating_point(own) && own != operand_dtype(op, i, dtype)) {
      parameters.operand_dtypes.emplace(i, own);
    }
  }
  for (std::size_t i = 1; i < stored.outputs.size(); ++i) {
    const DType first = stored.outputs[0].dtype(), own = stored.outputs[i].dtype();
    if (is_floating_point(own) && own != output_dtype(op, i, first)) {
      parameters.output_dtypes.emplace(i, own);
    }
  }
}

}  // namespace

testing::KernelReport judge_files(const std::string& name, const std::vector<std::string>& files,
                                  const testing::Kernel& kernel,
                                  const testing::KernelCheckOptions& options) {
  testing::OpParameters parameters = options.parameters;
  testing::KernelOp op = testing::kernel_op(name, parameters);
  const StoredCase stored = load_case(op, files);
  std::vector<Values> operands;
  for (const Tensor& input : stored.inputs) operands.push_back(values_of(input));
  const testing::Dims dims = dims_of(op, operands);

  testing::KernelReport report;
  report.dtype = dtype_of(op, stored);
  add_own_dtypes(parameters, op, stored, report.dtype);
  op = testing::kernel_op(name, parameters);
  report.op = name;
  report.parameters = parameters;
  report.output = options.output            ? *options.output
                  : !stored.outputs.empty() ? stored.outputs[0].dtype()
                                            : op.output_dtype(report.dtype);
  report.accumulate =
      options.accumulate ? *options.accumulate : promote_types(report.dtype, kFloat32);
  const std::vector<testing::KernelContract> contracts =
      testing::contracts(op, {report.dtype, report.output, report.accumulate}, options);
  if (kernel) {
    for (const testing::KernelContract& contract : contracts) {
      report.add(run_case(kernel, op, output_shapes(op, dims), operands, operands, contract),
                 {.dims = dims, .contract = contract});
    }
    report.judge_bias();
    return report;
  }
  if (stored.outputs.empty()) {
    detail::fail("judge_files", "expected a tensor called output{}, got none",
                 testing::output_suffix(op, 0));
  }
  std::vector<Values> outputs;
  for (const Tensor& output : stored.outputs) outputs.push_back(values_of(output));
  report.add(judge_outputs(op, operands, outputs, contracts.front()),
             {.dims = dims, .contract = contracts.front()});
  report.judge_bias();
  return report;
}

}  // namespace halfgrad::check
