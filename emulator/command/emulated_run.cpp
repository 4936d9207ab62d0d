#include <halfgrad/emulator/command/emulated_run.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <unistd.h>

#include <halfgrad/emulator/checks/suppressions.h>

namespace halfgrad::emulator {
namespace {

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

}  // namespace

EmulatedRun run_emulated(const std::vector<std::string>& program, Settings settings,
                         const RunLimits& limits) {
  const ReportFile report;
  settings.report_json = report.path();
  if (!settings.suppress.empty()) {
    Suppressions::read(settings.suppress);  // throws if the file is wrong
    settings.suppress = std::filesystem::absolute(settings.suppress).string();
  }
  std::string libraries = library_folder();
  if (const char* others = std::getenv("LD_LIBRARY_PATH")) libraries += std::string(":") + others;
  const int code = run_program(
      program, {{"LD_LIBRARY_PATH", libraries}, {"HALFGRAD_EMULATE", to_json(settings)}}, limits);
  return {code, report.text()};
}

}  // namespace halfgrad::emulator
