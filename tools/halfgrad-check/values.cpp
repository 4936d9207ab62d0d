#include "values.h"

#include <algorithm>
#include <filesystem>

#include <halfgrad/core/fail.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/io/safetensors.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>

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

/// "dx" after a name such as "expected", for an op with several outputs.
std::string suffix(const testing::KernelOp& op, std::size_t output) {
  return op.outputs.empty() ? "" : "_" + op.outputs[output].name;
}

std::string name_of(DType dtype) { return std::string(name(dtype)); }

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
    if (auto output = tensors.extract("output" + suffix(op, i)); !output.empty()) {
      stored.outputs.push_back(output.mapped());
    }
    tensors.erase("expected" + suffix(op, i));
    tensors.erase("allowed" + suffix(op, i));
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

}  // namespace

testing::KernelReport judge_files(const std::string& name, const std::vector<std::string>& files,
                                  const testing::Kernel& kernel,
                                  const testing::KernelCheckOptions& options) {
  const testing::KernelOp op = testing::kernel_op(name);
  const StoredCase stored = load_case(op, files);
  std::vector<Values> operands;
  for (const Tensor& input : stored.inputs) operands.push_back(values_of(input));
  const testing::Dims dims = dims_of(op, operands);

  testing::KernelReport report;
  report.op = name;
  report.dtype = stored.inputs[0].dtype();
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
    detail::fail("judge_files", "expected a tensor called output{}, got none", suffix(op, 0));
  }
  std::vector<std::vector<double>> outputs;
  for (const Tensor& output : stored.outputs) outputs.push_back(output.to_vector<double>());
  report.add(judge_outputs(op, operands, outputs, contracts.front()),
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
  const std::vector<Shape> shapes = output_shapes(op, shrunk.dims);
  std::vector<std::size_t> counts;
  for (const Shape& shape : shapes) counts.push_back(static_cast<std::size_t>(numel(shape)));
  const testing::ErrorBudget budget =
      testing::error_budget(op, shrunk.operands, report.accumulate, report.output, {}, counts);
  std::ptrdiff_t first = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto count = static_cast<std::ptrdiff_t>(counts[i]);
    const auto part = [&](const std::vector<double>& all) {
      return tensor_of({all.begin() + first, all.begin() + first + count}, shapes[i]);
    };
    tensors["expected" + suffix(op, i)] = part(budget.expected);
    tensors["allowed" + suffix(op, i)] = part(budget.allowed);
    first += count;
  }
  io::save_safetensors(file, tensors,
                       {{"op", report.op},
                        {"dtype", name_of(report.dtype)},
                        {"output", name_of(report.output)},
                        {"accumulate", name_of(report.accumulate)},
                        {"fault", testing::name(shrunk.fault)},
                        {"message", shrunk.message}});
}

}  // namespace halfgrad::check
