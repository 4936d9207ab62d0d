#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace programs {

/// What every program's command line has: --help that fits the terminal, --version, and suggestions
/// for misspelt options.
class CommandLine : public CLI::App {
 public:
  CommandLine(const std::string& program, const std::string& description);

  /// Ends the program after --help and --version, and with status 2 after saying what is wrong.
  /// `check` may throw CLI::ValidationError for what is wrong with several options together.
  void parse_or_exit(int argc, char** argv, const std::function<void()>& check = {});
};

/// For ->transform(): one of the names, or an alias of one, which becomes the name. A misspelt name
/// is answered with the nearest.
CLI::Validator one_of(const std::vector<std::string>& names,
                      const std::map<std::string, std::string>& aliases = {});

/// A floating-point dtype under PyTorch's name, which is how dtypes are printed. Short names (fp16,
/// half, torch.float16) are accepted.
CLI::Validator dtype_name();

/// Names of precisions in training: fp32, fp16 and bf16, for which a dtype's names are accepted.
std::map<std::string, std::string> precision_aliases();

/// Runs a program. An exception becomes a line on standard error and the status `failure`, and so
/// does output that nobody could write, as on a full disk.
int run(const std::string& program, const std::function<int()>& body, int failure = 1);

/// The number as it is printed: a NaN without its sign, which means nothing and differs from
/// machine to machine.
double printed(double x);

}  // namespace programs
