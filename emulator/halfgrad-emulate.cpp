/// halfgrad-emulate runs a CUDA program on the emulator: it puts the stand-in libraries in front,
/// hands the settings to the program's process, and reads the report that the process leaves.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

#include <halfgrad/emulator/checks/suppressions.h>
#include <halfgrad/emulator/command/child_process.h>
#include <halfgrad/emulator/command/options.h>
#include <halfgrad/emulator/report/run_report.h>

namespace halfgrad::emulator {
namespace {

constexpr int kErrorsFound = 9;
constexpr int kNothingChecked = 10;

/// A file of its own for the process's report, removed at the end.
class ReportFile {
 public:
  ReportFile() {
    std::string name =
        (std::filesystem::temp_directory_path() / "halfgrad-emulate-XXXXXX").string();
    const int file = ::mkstemp(name.data());
    if (file < 0) throw std::runtime_error("cannot make a temporary file " + name);
    ::close(file);
    path_ = name;
  }
  ~ReportFile() { std::remove(path_.c_str()); }
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << text;
  file.close();
  if (!file) throw std::runtime_error("cannot write " + path);
}

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

int run(CommandOptions options) {
  const ReportFile report;
  options.settings.report_json = report.path();
  if (!options.settings.suppress.empty()) {
    Suppressions::read(options.settings.suppress);  // throws if the file is wrong
    options.settings.suppress = std::filesystem::absolute(options.settings.suppress).string();
  }
  std::string libraries = library_folder();
  if (const char* others = std::getenv("LD_LIBRARY_PATH")) libraries += std::string(":") + others;
  const int code = run_program(options.program, {{"LD_LIBRARY_PATH", libraries},
                                                 {"HALFGRAD_EMULATE", to_json(options.settings)}});
  if (code == 127 && report.text().empty()) return code;
  const bool quiet = options.settings.quiet;
  if (report.text().empty()) {
    if (!quiet) explain_missing_report(options.program[0]);
    return code != 0 ? code : kNothingChecked;
  }
  const std::string json = with_predictions(report.text());
  const RunSummary summary = summarise(json);
  write_file(options.json, json);
  write_file(options.html, html_report(json, joined(options.program)));
  write_file(options.junit, junit_report(json));
  write_file(options.trace, trace_report(json));
  if (!quiet) std::fprintf(stderr, "halfgrad-emulate: %s\n", summary.text.c_str());
  return code != 0 ? code : summary.errors != 0 ? kErrorsFound : 0;
}

}  // namespace
}  // namespace halfgrad::emulator

int main(int argc, char** argv) {
  try {
    halfgrad::emulator::ParsedOptions parsed = halfgrad::emulator::parse_command_line(argc, argv);
    return parsed.options ? halfgrad::emulator::run(std::move(*parsed.options)) : parsed.exit_code;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "halfgrad-emulate: %s\n", error.what());
    return 1;
  }
}
