#include "options.h"

#include <algorithm>
#include <map>
#include <random>
#include <stdexcept>

#include <halfgrad/core/fail.h>
#include <halfgrad/programs/option_checks.h>
#include <halfgrad/programs/suggestion.h>
#include <halfgrad/testing/stored_case.h>

namespace halfgrad::check {
namespace {

using testing::Layout;

const std::map<std::string, DType> kDTypes = {
    {"float64", kFloat64}, {"float32", kFloat32}, {"float16", kFloat16}, {"bfloat16", kBFloat16}};
const std::map<std::string, Layout> kLayouts = {
    {"contiguous", Layout::contiguous},   {"misaligned", Layout::misaligned},
    {"padded_rows", Layout::padded_rows}, {"every_second", Layout::every_second},
    {"transposed", Layout::transposed},   {"page_end", Layout::page_end}};

constexpr const char* kTf32 = "tf32";

/// Replaces "random" by a seed.
const CLI::Validator drawn_seed(
    [](std::string& text) {
      if (text == "random") text = std::to_string(std::random_device{}());
      return std::string();
    },
    "");

testing::Hostile kind_of(const std::string& name) {
  int kind = 0;
  while (testing::name(static_cast<testing::Hostile>(kind)) != name) ++kind;
  return static_cast<testing::Hostile>(kind);
}

std::map<std::size_t, DType> by_position(const PositionedDTypes& given) {
  std::map<std::size_t, DType> dtypes;
  for (const std::string& each : given) {
    const std::size_t end = each.find('=');
    dtypes[std::stoul(each)] = testing::dtype_named(each.substr(end + 1));
  }
  return dtypes;
}

/// Returns what is wrong with POSITION=DTYPE, or an empty string.
std::string position_fault(const std::string& text) {
  const std::size_t end = text.find('=');
  const bool is_number = end > 0 && end < 4 && text.find_first_not_of("0123456789") == end;
  if (!is_number) return "expected POSITION=DTYPE, such as 2=float32, got " + text;
  try {
    testing::dtype_named(text.substr(end + 1));
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

std::vector<std::string> names_of(const std::map<std::string, Layout>& layouts) {
  std::vector<std::string> names;
  for (const auto& [name, layout] : layouts) names.push_back(name);
  return names;
}

std::vector<std::string> names_of_kinds() {
  std::vector<std::string> names;
  for (int kind = 0; kind < testing::kHostileKinds; ++kind) {
    names.emplace_back(name(static_cast<testing::Hostile>(kind)));
  }
  return names;
}

/// Returns what is wrong with the name of an op, or an empty string.
std::string op_fault(const std::string& name) {
  std::vector<std::string> names = testing::composite_kernel_ops();
  for (std::string& formula : testing::formula_kernel_ops()) names.push_back(formula);
  for (const OpEntry& entry : all_ops()) names.push_back(entry.name);
  if (std::ranges::find(names, name) != names.end()) return "";
  return "expected the name of an op in docs/ops.md, got " + name +
         programs::did_you_mean(name, names);
}

/// Checks an output file; "-" means standard output.
std::string writable(const std::string& path) { return path == "-" ? "" : checks::writable(path); }

void add_kernel_options(CLI::App& app, Arguments& given, testing::KernelCheckOptions& options) {
  app.add_option("op", given.op, "Name of the op that the kernel computes, see docs/ops.md")
      ->check(op_fault);
  auto* library =
      app.add_option("--library", given.shared_library, "Shared library with the kernel");
  auto* symbol = app.add_option("--symbol", given.symbol,
                                "Name of the kernel, a halfgrad_kernel of kernel_abi.h");
  library->needs(symbol);
  symbol->needs(library);
  app.add_option("--layout", given.layouts,
                 "Memory layouts of the arrays (default: contiguous misaligned page_end)")
      ->transform(programs::one_of(names_of(kLayouts)))
      ->needs(library);
  app.add_flag("--in-place", options.in_place, "Also write the output into the first input")
      ->needs(library);
  auto* device = app.add_option("--device", given.device, "cpu, cuda or cuda:N");
  app.add_flag("--emulate", given.emulate,
               "Run a CUDA kernel without a GPU, under halfgrad-emulate, and report races, stray "
               "accesses and uncoalesced lines too")
      ->needs(library)
      ->excludes(device);
  auto* in_process =
      app.add_flag("--in-process", given.in_process,
                   "Run the kernel in this process, where a crash or a hang ends the check")
          ->needs(library);
  app.add_option("--timeout", options.timeout, "Seconds that a call may take")
      ->check(checks::positive)
      ->needs(library)
      ->excludes(in_process);
  app.add_option("--repeat", options.repeat,
                 "Further runs of one case, whose bits are compared (default: as many as 0.5 s "
                 "allow, up to 20,000)")
      ->check(checks::within(0, 1e9))
      ->needs(library);
  app.add_option("--reports", given.reports)->group("");  // hidden: from check_emulated()
}

/// Parameters of the op itself.
void add_op_options(CLI::App& app, Arguments& given, testing::KernelCheckOptions& options) {
  app.add_option("--eps", options.parameters.eps, "The eps of a norm or of Adam");
  app.add_option("--dim", options.parameters.dim,
                 "Dimension along which a softmax, a reduction or a norm goes (default: the last)");
  app.add_option("--ndim", options.parameters.ndim,
                 "Number of dimensions of the operand of such an op: 2 (default) or 3");
  app.add_option("--reduction", given.reduction, "Reduction of a loss: none, mean (default) or sum")
      ->transform(programs::one_of({"none", "mean", "sum"}));
  app.add_option("--operand-dtype", given.operand_dtypes,
                 "Dtypes of single operands by position from 0: 2=float32 3=float32")
      ->check(position_fault);
  app.add_option("--output-dtype", given.output_dtypes,
                 "Dtypes of single outputs, where an op has several: 1=float32")
      ->check(position_fault);
}

/// Options that state what the kernel's contract permits.
void add_contract_options(CLI::App& app, Arguments& given, testing::KernelCheckOptions& options) {
  app.add_option("--output", given.output, "Dtype of the result")
      ->transform(programs::dtype_name());
  app.add_option("--accumulate", given.accumulate,
                 "Dtype of intermediate results, or tf32: factors of 11 bits, sums in float32")
      ->transform(programs::dtype_name({kTf32}));
  app.add_flag("--flush-subnormals", options.leniency.flush_subnormals,
               "Allow 0 for subnormal operands and results");
  app.add_flag("--any-nan", options.leniency.any_nan, "Allow any value in place of NaN");
  app.add_flag("--fast-math", options.leniency.fast_math,
               "Allow the errors of nvcc's --use_fast_math: those of __expf and other float "
               "functions, and 0 for subnormals");
  app.add_flag("--any-order", options.leniency.any_order,
               "Allow calls on equal inputs to differ within the budget, as sums by atomicAdd do");
  app.add_option("--max-abs", options.leniency.max_abs,
                 "Largest magnitude of operands; infinities and greater values are replaced")
      ->check(checks::positive);
  app.add_flag_callback(
      "--no-empty", [&options] { options.empty = false; }, "Leave out operands without elements");
  app.add_option("--without", given.without, "Kinds of inputs to leave out, such as \"near max\"")
      ->transform(programs::one_of(names_of_kinds()));
}

/// Options for kernels that run elsewhere.
void add_folder_options(CLI::App& app, Arguments& given) {
  auto* const judge =
      app.add_option("--judge", given.judged_cases,
                     "Judge the outputs NAME.out.npy in a folder that --write-cases wrote")
          ->check(CLI::ExistingDirectory);
  auto* const write = app.add_option(
      "--write-cases", given.written_cases,
      "Write the inputs of each case, what is expected and the budget to this folder");
  for (const char* other : {"--library", "--values", "--emulate", "--in-place", "--layout"}) {
    write->excludes(app.get_option(other));
    judge->excludes(app.get_option(other));
  }
  for (const char* other : {"op",         "--write-cases", "--dtype",         "--dims",
                            "--seed",     "--output",      "--accumulate",    "--flush-subnormals",
                            "--any-nan",  "--fast-math",   "--any-order",     "--max-abs",
                            "--no-empty", "--without",     "--eps",           "--dim",
                            "--ndim",     "--reduction",   "--operand-dtype", "--output-dtype"}) {
    judge->excludes(app.get_option(other));
  }
  app.add_flag("--include-dir", given.include_dir,
               "Print the directory for the compiler's -I, with halfgrad/testing/kernel_abi.h");
}

void add_input_options(CLI::App& app, Arguments& given, testing::KernelCheckOptions& options) {
  auto* values = app.add_option(
      "--values", given.values,
      "Files (.safetensors, .npz, .npy) with input0, input1, ... and, without a library, the "
      "output");
  app.add_option("--save-smallest", given.smallest,
                 "Write the smallest failing case to this .safetensors file")
      ->check(writable)
      ->excludes(values);
  app.add_option("--dtype", given.dtype, "Dtype of the operands")
      ->transform(programs::dtype_name())
      ->excludes(values);
  app.add_option("--dims", given.dims, "Sizes to check: m n k, any number of times")
      ->type_size(3)
      ->expected(1, 64)
      ->excludes(values);
  app.add_option("--columns", given.columns,
                 "Columns of the products of bmm and baddbmm, for all sizes of --dims (default: n)")
      ->check(CLI::PositiveNumber)
      ->needs(app.get_option("--dims"));
  app.add_option("--seed", options.seed, "Seed of the inputs, or random")
      ->transform(drawn_seed)
      ->excludes(values);
  app.add_option("--fresh-seed", options.fresh_seed,
                 "Seed of the inputs of repeated calls (default: drawn)")
      ->excludes(values);
  app.add_flag("--no-shrink", given.no_shrink, "Do not search for a smaller failing case")
      ->excludes(values);
  app.add_flag("--stop-at-first", options.stop_at_first, "End the check at the first fault")
      ->excludes(values);
}

}  // namespace

void add_options(programs::CommandLine& app, Arguments& given,
                 testing::KernelCheckOptions& options) {
  add_kernel_options(app, given, options);
  add_op_options(app, given, options);
  add_contract_options(app, given, options);
  add_input_options(app, given, options);
  add_folder_options(app, given);
  app.add_option("--json", given.json, "Write the report to this file; - for standard output")
      ->check(writable);
  app.add_option("--junit", given.junit, "Write a JUnit document to this file")->check(writable);
}

void read_options(const Arguments& given, testing::KernelCheckOptions& options) {
  if (!given.layouts.empty()) options.layouts.clear();
  for (const std::string& layout : given.layouts) options.layouts.push_back(kLayouts.at(layout));
  for (std::size_t i = 0; i + 2 < given.dims.size(); i += 3) {
    options.dims.push_back({given.dims[i], given.dims[i + 1], given.dims[i + 2], given.columns});
  }
  options.device = Device(given.device);
  options.dtype = kDTypes.at(given.dtype);
  if (!given.output.empty()) options.output = kDTypes.at(given.output);
  options.leniency.tf32 = given.accumulate == kTf32;
  if (!given.accumulate.empty() && !options.leniency.tf32) {
    options.accumulate = kDTypes.at(given.accumulate);
  }
  if (!given.reduction.empty()) {
    options.parameters.reduction = testing::reduction_named(given.reduction);
  }
  options.parameters.operand_dtypes = by_position(given.operand_dtypes);
  options.parameters.output_dtypes = by_position(given.output_dtypes);
  for (const std::string& kind : given.without) options.without.push_back(kind_of(kind));
  options.shrink = !given.no_shrink;
  if (given.columns > 0 &&
      !testing::has_columns(testing::kernel_op(given.op, options.parameters))) {
    detail::fail("--columns", "expected bmm or baddbmm, got {}", given.op);
  }
}

}  // namespace halfgrad::check
