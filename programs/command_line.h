#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace programs {

/// The command line of every program: --help that fits the terminal, --version, and suggestions for
/// misspelt options.
class CommandLine : public CLI::App {
 public:
  CommandLine(const std::string& program, const std::string& description);

  /// Ends the program after --help and --version, and with status 2 after an error message. `check`
  /// throws CLI::ValidationError if options do not fit together.
  void parse_or_exit(int argc, char** argv, const std::function<void()>& check = {});
};

/// Returns a validator for ->transform(), which accepts the names and replaces an alias by its
/// name. The error about a misspelt name suggests the nearest one.
CLI::Validator one_of(const std::vector<std::string>& names,
                      const std::map<std::string, std::string>& aliases = {});

/// Returns a validator for floating-point dtypes by PyTorch's name, as dtypes are printed. Accepts
/// other spellings, too: fp16, half, torch.float16; and the names in `more`.
CLI::Validator dtype_name(const std::vector<std::string>& more = {});

/// Aliases of the training precisions fp32, fp16 and bf16: the names of their dtypes.
std::map<std::string, std::string> precision_aliases();

/// Runs a program and returns its exit status. An exception, and output that cannot be written (a
/// full disk), give a line on standard error and the status `failure`.
int run(const std::string& program, const std::function<int()>& body, int failure = 1);

/// Returns `x` for printing: without the sign of a NaN, which differs between machines.
double printed(double x);

}  // namespace programs
