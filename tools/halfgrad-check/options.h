#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <halfgrad/programs/command_line.h>
#include <halfgrad/testing/kernel_check.h>

/// The options of halfgrad-check.
namespace halfgrad::check {

/// "2=float32" as a dtype by its position.
using PositionedDTypes = std::vector<std::string>;

struct Arguments {
  std::string shared_library, symbol, op, json, junit, smallest;
  bool emulate = false;
  std::string reports;  ///< this process runs in the emulator: folder for check_emulated()
  std::vector<std::string> values, layouts, without;
  std::string dtype = "float32", output, accumulate;  // empty: the op's default
  std::string reduction;
  PositionedDTypes operand_dtypes, output_dtypes;
  std::vector<std::int64_t> dims;
  std::int64_t columns = 0;
  std::string device = "cpu";
  bool in_process = false, no_shrink = false;
  std::string written_cases, judged_cases;  // folders
  bool include_dir = false;
};

/// Adds every option to the command line, which writes to `given` and `options`.
void add_options(programs::CommandLine& app, Arguments& given,
                 testing::KernelCheckOptions& options);

/// Puts the texts of the command line into the options.
void read_options(const Arguments& given, testing::KernelCheckOptions& options);

}  // namespace halfgrad::check
