// halfgrad-check: judges a kernel in a shared library, or results computed elsewhere, against an op
// of docs/ops.md. Exit code: 0 sound, 1 a fault was found, 2 it could not be checked.
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <halfgrad/testing/kernel_library.h>
#include <halfgrad/testing/kernel_report.h>

#include "halfgrad-check/values.h"

namespace {

namespace hg = halfgrad;
using hg::testing::Layout;

const std::map<std::string, hg::DType> kDTypes = {{"float64", hg::kFloat64},
                                                  {"float32", hg::kFloat32},
                                                  {"float16", hg::kFloat16},
                                                  {"bfloat16", hg::kBFloat16}};
const std::map<std::string, Layout> kLayouts = {{"contiguous", Layout::contiguous},
                                                {"misaligned", Layout::misaligned},
                                                {"padded_rows", Layout::padded_rows},
                                                {"every_second", Layout::every_second},
                                                {"transposed", Layout::transposed}};

struct Arguments {
  std::string shared_library, symbol, op, json, junit, smallest;
  std::vector<std::string> values, layouts;
  hg::DType dtype = hg::kFloat32, output = hg::kFloat32, accumulate = hg::kFloat32;
  std::vector<std::int64_t> dims;
  std::string device = "cpu";
};

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << '\n';
    return;
  }
  std::ofstream file(path);
  file << text << '\n';
  if (!file.flush()) throw std::runtime_error("halfgrad-check: cannot write " + path);
}

hg::testing::KernelReport report(const Arguments& given,
                                 const hg::testing::KernelCheckOptions& options) {
  const bool stored = !given.values.empty();
  if (given.shared_library.empty() && !stored) {
    throw std::invalid_argument("halfgrad-check: expected --library or --values, got neither");
  }
  hg::testing::Kernel kernel;
  if (!given.shared_library.empty())
    kernel = hg::testing::load_kernel(given.shared_library, given.symbol);
  return stored ? hg::check::judge_files(given.op, given.values, kernel, options)
                : hg::testing::check_kernel(kernel, given.op, options);
}

int check(const Arguments& given, hg::testing::KernelCheckOptions options) {
  if (!given.layouts.empty()) options.layouts.clear();
  for (const std::string& layout : given.layouts) options.layouts.push_back(kLayouts.at(layout));
  for (std::size_t i = 0; i + 2 < given.dims.size(); i += 3) {
    options.dims.push_back({given.dims[i], given.dims[i + 1], given.dims[i + 2]});
  }
  options.device = hg::Device(given.device);
  const auto result = report(given, options);
  if (given.json != "-") std::cout << hg::testing::to_text(result);
  if (!given.json.empty()) write(given.json, hg::testing::to_json(result));
  if (!given.junit.empty()) write(given.junit, hg::testing::to_junit({result}));
  if (!given.smallest.empty() && result.shrunk) hg::check::save_case(given.smallest, result);
  return result.passed() ? 0 : result.checked() ? 1 : 2;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Judges a kernel against an op of halfgrad's table.");
  Arguments given;
  hg::testing::KernelCheckOptions options;
  app.add_option("op", given.op, "What the kernel computes: a name in docs/ops.md")->required();
  auto* library = app.add_option("--library", given.shared_library, "The shared library");
  auto* symbol =
      app.add_option("--symbol", given.symbol, "The kernel: a halfgrad_kernel of kernel_abi.h");
  library->needs(symbol);
  symbol->needs(library);
  auto* values = app.add_option(
      "--values", given.values,
      "Files (.safetensors, .npz, .npy) of input0, input1, ... and, without a library, of "
      "the output");
  app.add_option("--save-smallest", given.smallest,
                 "Write the smallest failing case to this .safetensors file")
      ->excludes(values);
  const CLI::CheckedTransformer dtypes(kDTypes);
  app.add_option("--dtype", given.dtype, "Of the operands")->transform(dtypes)->excludes(values);
  auto* output = app.add_option("--output", given.output, "Of the result")->transform(dtypes);
  auto* accumulate = app.add_option("--accumulate", given.accumulate, "Of intermediate results")
                         ->transform(dtypes);
  app.add_option("--layout", given.layouts, "How arrays may lie (default: contiguous misaligned)")
      ->check(CLI::IsMember(kLayouts))
      ->needs(library);
  app.add_option("--dims", given.dims, "Sizes to check: m n k, any number of times")
      ->type_size(3)
      ->expected(1, 64)
      ->excludes(values);
  app.add_option("--device", given.device, "cpu, cuda or cuda:N");
  app.add_option("--seed", options.seed, "Of the inputs")->excludes(values);
  app.add_flag("--in-place", options.in_place, "Also with the output on the first input")
      ->needs(library);
  app.add_option("--json", given.json, "Write the report to this file; - for standard output");
  app.add_option("--junit", given.junit, "Write a JUnit document to this file");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  options.dtype = given.dtype;
  if (!output->empty()) options.output = given.output;
  if (!accumulate->empty()) options.accumulate = given.accumulate;
  try {
    return check(given, options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 2;
  }
}
