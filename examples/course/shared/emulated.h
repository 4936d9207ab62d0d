#pragma once

#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>

#include <unistd.h>

#include <nlohmann/json.hpp>

/// Runs of a chapter's CUDA program under halfgrad-emulate. The build puts both beside the
/// chapter's program, the CUDA program only where it found nvcc.
namespace course {

/// The output of a program under the emulator, and its kernels' counters: docs/emulator.md.
struct EmulatedRun {
  std::string output;
  nlohmann::json report;
};

/// Runs bin/PROGRAM ARGUMENTS under the emulator. Returns nothing, and prints once a line that
/// begins with SKIPPED, if the program or the emulator was not built. Throws std::runtime_error if
/// the program fails, or if the emulator finds an error in it and `with_findings` is false.
inline std::optional<EmulatedRun> run_emulated(const std::string& program,
                                               const std::string& arguments,
                                               bool with_findings = false) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path emulator = folder / "halfgrad-emulate", cuda = folder / program;
  for (const fs::path& needed : {cuda, emulator}) {
    if (fs::exists(needed)) continue;
    static bool said = false;
    if (said) return std::nullopt;
    said = true;
    std::printf("SKIPPED: %s was not built%s, so nothing runs under the emulator\n",
                needed.filename().c_str(), needed == cuda ? ": no nvcc" : "");
    return std::nullopt;
  }
  const fs::path report =
      fs::temp_directory_path() / (program + "-" + std::to_string(::getpid()) + ".json");
  const std::string command = "'" + emulator.string() + "' --quiet --json '" + report.string() +
                              "' '" + cuda.string() + "' " + arguments + " 2>&1";
  std::fflush(stdout);
  EmulatedRun run;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error(program + ": expected to start, but it did not");
  char text[512];
  while (std::fgets(text, sizeof text, pipe) != nullptr) run.output += text;
  const int status = ::pclose(pipe);
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  std::ifstream file(report);
  run.report = nlohmann::json::parse(file, nullptr, false);
  file.close();
  fs::remove(report);
  constexpr int kFindings = 9;
  const bool ended = code == 0 || (with_findings && code == kFindings);
  if (!ended || run.report.is_discarded()) {
    throw std::runtime_error(program + " " + arguments + ": expected status 0 and a report, got " +
                             std::to_string(code) + " and\n" + run.output);
  }
  return run;
}

}  // namespace course
