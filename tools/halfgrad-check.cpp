// halfgrad-check compares a kernel in a shared library, or results computed elsewhere, with an op
// of docs/ops.md. Exit code: 0 if correct, 1 if a fault was found, 2 if it could not be checked.
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/programs/command_line.h>
#include <halfgrad/programs/terminal.h>
#include <halfgrad/testing/kernel_library.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/stored_case.h>

#include "halfgrad-check/case_folder.h"
#include "halfgrad-check/emulated.h"
#include "halfgrad-check/kernel_process.h"
#include "halfgrad-check/options.h"
#include "halfgrad-check/progress.h"
#include "halfgrad-check/values.h"

namespace {

namespace hg = halfgrad;
using hg::check::Arguments;

void write(const std::string& path, const std::string& text) {
  if (path == "-") {
    fmt::print("{}\n", text);
  } else {
    const std::string line = text + '\n';
    hg::files::replace_file(path, std::as_bytes(std::span(line)));
  }
}

void write(const Arguments& given, const hg::check::Documents& documents) {
  if (given.json != "-") programs::print_wrapped(documents.text, 16);
  if (!given.json.empty()) write(given.json, documents.json);
  if (!given.junit.empty()) write(given.junit, documents.junit);
}

/// The kernel, in a process of its own unless it runs in this one.
hg::testing::Kernel kernel_of(const Arguments& given, hg::testing::KernelCheckOptions& options) {
  if (given.shared_library.empty()) return {};
  if (given.emulate) {
    // The emulator is slow, and finds races and stray accesses at small sizes in one run.
    if (options.dims.empty()) {
      options.dims = emulated_dims(hg::testing::kernel_op(given.op, options.parameters));
    }
    if (!options.repeat) options.repeat = 0;
    return hg::testing::load_cuda_kernel(given.shared_library, given.symbol);
  }
  if (given.in_process) return hg::testing::load_kernel(given.shared_library, given.symbol);
  options.device = {};  // the new process copies the arrays to the GPU and back
  return hg::check::kernel_in_new_process(given.shared_library, given.symbol, given.device,
                                          options.timeout);
}

hg::testing::KernelReport report(const Arguments& given, hg::testing::KernelCheckOptions options) {
  if (!given.judged_cases.empty()) return hg::check::judge_folder(given.judged_cases);
  const bool stored = !given.values.empty();
  if (given.shared_library.empty() && !stored) {
    throw std::invalid_argument(
        "expected --library, --values, --write-cases or --judge, got none of them");
  }
  const hg::testing::Kernel kernel = kernel_of(given, options);
  return stored ? hg::check::judge_files(given.op, given.values, kernel, options)
                : hg::testing::check_kernel(kernel, given.op, options);
}

int check(const Arguments& given, hg::testing::KernelCheckOptions options) {
  if (given.include_dir) {
    fmt::print("{}\n", hg::check::include_directory());
    return 0;
  }
  if (given.op.empty() && given.judged_cases.empty()) {
    throw std::invalid_argument("op is required");
  }
  hg::check::read_options(given, options);
  if (!given.written_cases.empty()) {
    const std::size_t cases = hg::check::write_cases(given.written_cases, given.op, options);
    fmt::print("wrote {} cases to {}\n", cases, given.written_cases);
    return 0;
  }
  if (hg::check::shows_progress()) options.progress = hg::check::print_progress;
  const auto result = report(given, options);
  if (options.progress) hg::check::clear_progress();
  const hg::check::Documents documents{hg::testing::to_text(result), hg::testing::to_json(result),
                                       hg::testing::to_junit({result}),
                                       result.passed()    ? 0
                                       : result.checked() ? 1
                                                          : 2};
  if (!given.smallest.empty() && result.shrunk) hg::testing::save_case(given.smallest, result);
  if (given.reports.empty()) {
    write(given, documents);
  } else {
    hg::check::write_documents(given.reports, documents);
  }
  return documents.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kNotChecked = 2;
  const auto body = [&] {
    if (hg::check::is_kernel_process(argc, argv)) hg::check::run_kernel_process(argv);
    programs::CommandLine app("halfgrad-check", "Compares a kernel with an op of halfgrad.");
    Arguments given;
    hg::testing::KernelCheckOptions options;
    hg::check::add_options(app, given, options);
    app.parse_or_exit(argc, argv);
    if (!given.emulate && !given.in_process) hg::check::hide_from_kernels(argc, argv);
    if (!given.emulate || !given.reports.empty()) return check(given, options);
    const hg::check::Documents documents = hg::check::check_emulated(argc, argv);
    if (!documents.json.empty()) write(given, documents);
    return documents.exit_code;
  };
  return programs::run("halfgrad-check", body, kNotChecked);
}
