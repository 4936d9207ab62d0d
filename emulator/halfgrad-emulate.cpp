/// halfgrad-emulate runs a CUDA program on the emulator: it puts the stand-in libraries in front,
/// hands the settings to the program's process, and reads the report that the process leaves.

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include <halfgrad/emulator/command/emulated_run.h>
#include <halfgrad/emulator/command/mutants.h>
#include <halfgrad/emulator/command/options.h>
#include <halfgrad/emulator/command/output_file.h>
#include <halfgrad/emulator/report/run_report.h>

namespace halfgrad::emulator {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void explain_missing_report(const std::string& program) {
  std::fprintf(
      stderr,
      "halfgrad-emulate: %s left no report, so nothing, or not its end, was checked. It must "
      "return from "
      "main or call exit,\nnot end by a signal, and link the shared CUDA runtime: nvcc -cudart "
      "shared "
      "-gencode arch=compute_80,code=compute_80 ...\n",
      program.c_str());
}

/// Runs the program once and writes the reports. Returns the exit code.
int run(const CommandOptions& options) {
  const EmulatedRun done = run_emulated(options.program, options.settings);
  const int code = done.code;
  if (code == kNotStarted && done.json.empty()) return code;
  const bool quiet = options.settings.quiet;
  if (done.json.empty()) {
    if (!quiet) explain_missing_report(options.program[0]);
    return code != 0 ? code : kNothingChecked;
  }
  const std::string json = with_predictions(done.json);
  const RunSummary summary = summarise(json);
  write_file(options.json, json);
  write_file(options.html, html_report(json, joined(options.program)));
  write_file(options.junit, junit_report(json));
  write_file(options.trace, trace_report(json));
  if (!quiet) std::fprintf(stderr, "halfgrad-emulate: %s\n", summary.text.c_str());
  expect_mutant(json, options.settings.mutant);
  return code != 0 ? code : summary.errors != 0 ? kErrorsFound : 0;
}

}  // namespace
}  // namespace halfgrad::emulator

int main(int argc, char** argv) {
  try {
    using namespace halfgrad::emulator;
    const ParsedOptions parsed = parse_command_line(argc, argv);
    if (!parsed.options) return parsed.exit_code;
    return parsed.options->mutants.empty() ? run(*parsed.options) : try_mutants(*parsed.options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "halfgrad-emulate: %s\n", error.what());
    return 1;
  }
}
