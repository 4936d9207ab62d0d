#pragma once

#include <optional>
#include <string>
#include <vector>

#include <halfgrad/emulator/settings.h>

namespace halfgrad::emulator {

/// Settings, output files and program that the command line names.
struct CommandOptions {
  Settings settings;
  std::string html, json, junit, trace;  ///< files to write, or ""
  std::string step_kernel;               ///< "": no --step; "*": of all kernels
  std::string mutants;                   ///< "": no --mutants; else a regular expression
  bool gtest = false;                    ///< the program's tests are those of GoogleTest
  unsigned jobs = 1;                     ///< mutants that run at a time
  std::vector<std::string> program;      ///< name and arguments
};

/// Options of the command line, or the exit code after --help or a mistake.
struct ParsedOptions {
  std::optional<CommandOptions> options;
  int exit_code = 0;
};
ParsedOptions parse_command_line(int argc, char** argv);

/// Bytes of "512M", "8G" or "1048576". Throws std::invalid_argument.
std::size_t parse_bytes(const std::string& text);

}  // namespace halfgrad::emulator
