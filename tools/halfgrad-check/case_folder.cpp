#include "case_folder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/core/fail.h>
#include <halfgrad/files/read_file.h>
#include <halfgrad/files/replace_file.h>
#include <halfgrad/io/npy.h>
#include <halfgrad/testing/op_example.h>
#include <halfgrad/testing/random_tensor.h>
#include <halfgrad/testing/stored_case.h>

namespace halfgrad::check {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kManifestVersion = 1;
constexpr const char* kManifest = "manifest.json";

DType stored_dtype(DType dtype) { return dtype == kBFloat16 ? kFloat32 : dtype; }

std::string text_of(DType dtype) { return std::string(name(dtype)); }

testing::Hostile kind_named(const std::string& wanted) {
  for (int i = 0; i < testing::kHostileKinds; ++i) {
    if (testing::name(static_cast<testing::Hostile>(i)) == wanted) {
      return static_cast<testing::Hostile>(i);
    }
  }
  detail::fail("--judge", "expected a kind of inputs in the manifest, got {}", wanted);
}

json described(const Tensor& tensor) {
  return {{"shape", tensor.sizes().vec()}, {"dtype", text_of(tensor.dtype())}};
}

/// Writes one case, and returns its entry in the manifest.
json write_case(const fs::path& folder, const testing::KernelOp& op,
                const testing::KernelCase& next) {
  const testing::KernelContract& contract = next.contract;
  const std::vector<Values> operands = testing::case_operands(op, next);
  const std::vector<Tensor> inputs = testing::operand_tensors(op, operands, contract.dtype);
  const std::string name = testing::file_name(next);
  io::TensorMap tensors;
  json entry{{"name", name},
             {"dims", {next.dims.m, next.dims.n, next.dims.k}},
             {"kind", std::string(testing::name(next.inputs))},
             {"inputs", json::array()}};
  if (next.dims.columns > 0) entry["dims"].push_back(next.dims.columns);
  const std::vector<testing::ExpectedOutput> outputs =
      testing::expected_outputs(op, next.dims, operands, contract);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::string suffix = testing::output_suffix(op, i);
    tensors["expected" + suffix] = outputs[i].expected;
    tensors["allowed" + suffix] = outputs[i].allowed;
    entry["output" + suffix] = {{"shape", outputs[i].expected.sizes().vec()},
                                {"dtype", text_of(outputs[i].dtype)}};
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    tensors["input" + std::to_string(i)] = inputs[i].to(stored_dtype(inputs[i].dtype()));
    entry["inputs"].push_back(described(inputs[i]));
  }
  io::save_npz(folder / (name + ".npz"), tensors);
  return entry;
}

testing::OpParameters parameters_in(const json& given) {
  testing::OpParameters parameters;
  if (given.contains("eps")) parameters.eps = given.at("eps").get<double>();
  if (given.contains("dim")) parameters.dim = given.at("dim").get<std::int64_t>();
  if (given.contains("ndim")) parameters.ndim = given.at("ndim").get<std::int64_t>();
  if (given.contains("reduction")) {
    parameters.reduction = testing::reduction_named(given.at("reduction"));
  }
  const json dtypes = given.value("operand_dtypes", json::object());
  for (const auto& [position, dtype] : dtypes.items()) {
    parameters.operand_dtypes[std::stoul(position)] = testing::dtype_named(dtype);
  }
  return parameters;
}

testing::KernelCheckOptions options_in(const json& manifest) {
  testing::KernelCheckOptions options;
  options.dtype = testing::dtype_named(manifest.at("dtype"));
  options.output = testing::dtype_named(manifest.at("output"));
  options.accumulate = testing::dtype_named(manifest.at("accumulate"));
  options.parameters = parameters_in(manifest.value("parameters", json::object()));
  options.leniency.tf32 = manifest.at("tf32");
  options.leniency.flush_subnormals = manifest.at("flush_subnormals");
  options.leniency.any_nan = manifest.at("any_nan");
  options.leniency.fast_math = manifest.value("fast_math", false);
  const json& most = manifest.at("max_abs");
  if (!most.is_null()) options.leniency.max_abs = most;
  options.seed = manifest.at("seed");
  return options;
}

/// The files of a case's outputs: NAME.out.npy, or NAME.out_dx.npy and so on for several.
std::vector<fs::path> output_files(const fs::path& folder, const json& entry,
                                   const testing::KernelOp& op) {
  const auto name = entry.at("name").get<std::string>();
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, op.outputs.size()); ++i) {
    files.push_back(folder / (name + ".out" + testing::output_suffix(op, i) + ".npy"));
  }
  return files;
}

void expect_outputs(const fs::path& folder, const json& cases, const testing::KernelOp& op) {
  std::vector<std::string> missing;
  for (const json& entry : cases) {
    for (const fs::path& file : output_files(folder, entry, op)) {
      if (!fs::exists(file)) missing.push_back(file.filename().string());
    }
  }
  if (missing.empty()) return;
  detail::fail("--judge",
               "expected an output for each of {} cases, got none for {}; the first is {}",
               cases.size(), missing.size(), missing.front());
}

/// Adds the judgement of one case.
void judge_case(const fs::path& folder, const json& entry, const testing::KernelOp& op,
                testing::KernelCase next, testing::KernelReport& report) {
  const auto dims = entry.at("dims").get<std::vector<std::int64_t>>();
  next.dims = {dims.at(0), dims.at(1), dims.at(2), dims.size() > 3 ? dims[3] : 0};
  next.inputs = kind_named(entry.at("kind"));
  testing::expect_dims(op, next.dims);
  const std::vector<fs::path> files = output_files(folder, entry, op);
  const std::vector<Shape> shapes = testing::output_shapes(op, next.dims);
  std::vector<Values> outputs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Tensor output = io::load_npy(files[i]);
    const DType expected = stored_dtype(testing::output_dtype(op, i, next.contract.output));
    if (output.dtype() != expected) {
      detail::fail("--judge", "expected {} in {}, got {}", expected, files[i].filename().string(),
                   output.dtype());
    }
    if (output.sizes() != shapes[i]) {
      report.add({.fault = testing::Fault::wrong_value,
                  .message = "expected an output" + testing::of_output(op, i) + " of shape " +
                             to_string(shapes[i]) + ", got " + to_string(output.sizes()),
                  .use = {},
                  .worst = {},
                  .bad = {}},
                 next);
      return;
    }
    outputs.push_back(values_of(output));
  }
  report.add(testing::judge_outputs(op, testing::case_operands(op, next), outputs, next.contract),
             next);
}

}  // namespace

std::size_t write_cases(const std::string& folder, const std::string& name,
                        const testing::KernelCheckOptions& options) {
  const testing::KernelOp op = testing::kernel_op(name, options.parameters);
  const testing::KernelContract dtypes = testing::dtypes_of(op, options);
  const double most = options.leniency.max_abs;
  json manifest{{"schema_version", kManifestVersion},
                {"op", name},
                {"dtype", text_of(dtypes.dtype)},
                {"output", text_of(dtypes.output)},
                {"accumulate", text_of(dtypes.accumulate)},
                {"parameters", json::parse(testing::to_json(options.parameters))},
                {"tf32", options.leniency.tf32},
                {"flush_subnormals", options.leniency.flush_subnormals},
                {"any_nan", options.leniency.any_nan},
                {"fast_math", options.leniency.fast_math},
                {"max_abs", std::isfinite(most) ? json(most) : json()},
                {"seed", options.seed},
                {"cases", json::array()}};
  fs::create_directories(folder);
  for (const testing::KernelCase& next : testing::listed_cases(op, options)) {
    manifest["cases"].push_back(write_case(folder, op, next));
  }
  const std::string text = manifest.dump(1) + '\n';
  files::replace_file(fs::path(folder) / kManifest, std::as_bytes(std::span(text)));
  return manifest["cases"].size();
}

testing::KernelReport judge_folder(const std::string& folder) try {
  const std::vector<std::byte> bytes =
      files::read_file((fs::path(folder) / kManifest).string(), "--judge");
  const json manifest = json::parse(reinterpret_cast<const char*>(bytes.data()),
                                    reinterpret_cast<const char*>(bytes.data()) + bytes.size());
  if (manifest.at("schema_version") != kManifestVersion) {
    detail::fail("--judge", "expected a manifest of version {}, got {}", kManifestVersion,
                 manifest.at("schema_version").dump());
  }
  const testing::KernelCheckOptions options = options_in(manifest);
  const testing::KernelOp op = testing::kernel_op(manifest.at("op"), options.parameters);
  testing::KernelCase next;
  next.seed = options.seed;
  next.contract = testing::dtypes_of(op, options);
  next.contract.leniency = options.leniency;
  testing::KernelReport report = testing::empty_report(op, options);
  expect_outputs(folder, manifest.at("cases"), op);
  for (const json& entry : manifest.at("cases")) judge_case(folder, entry, op, next, report);
  report.judge_bias();
  return report;
} catch (const json::exception& error) {
  detail::fail("--judge", "expected the manifest that --write-cases wrote, got: {}", error.what());
}

std::string include_directory() {
  const fs::path program = fs::read_symlink("/proc/self/exe");
  for (const char* from_here : {"../include", HALFGRAD_INCLUDE_FROM_BIN}) {
    const fs::path folder = (program.parent_path() / from_here).lexically_normal();
    if (fs::exists(folder / "halfgrad" / "testing" / "kernel_abi.h")) return folder.string();
  }
  throw std::runtime_error("--include-dir: expected halfgrad's headers in ../include of " +
                           program.parent_path().string());
}

}  // namespace halfgrad::check
