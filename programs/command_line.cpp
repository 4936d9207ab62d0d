#include <halfgrad/programs/command_line.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>

#include <fmt/core.h>
#include <halfgrad/programs/suggestion.h>
#include <halfgrad/programs/terminal.h>

namespace programs {
namespace {

constexpr int kHelpColumns = 80;
constexpr int kNameColumns = 26;

class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() { column_width(kNameColumns); }

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override {
    const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    const int most = std::min(columns(), kHelpColumns);
    std::string result;
    bool is_description = true;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string line = text.substr(at, end - at);
      is_description = is_description && !line.starts_with("Usage:");
      const int indent = line.starts_with("  ") ? 2 : 0;
      result += wrapped(line, most, is_description || indent == 0 ? indent : kNameColumns) + '\n';
      at = end + 1;
    }
    return result;
  }
};

/// "fp32, fp16 or bf16".
std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  return text;
}

/// Flushes standard output; returns false if any output could not be written.
bool is_written() {
  std::cout.flush();
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
}

int complain_of_output(const std::string& program, int failure) {
  const std::string reason = errno == 0 ? "an error" : std::strerror(errno);
  fmt::print(stderr, "{}: expected to write standard output, got: {}\n", program, reason);
  return failure;
}

std::string suggestion_for(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) return "";
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  for (const std::string& word : app.remaining()) {
    const std::string text = did_you_mean(word.substr(0, word.find('=')), names);
    if (!text.empty()) return text;
  }
  return "";
}

}  // namespace

CommandLine::CommandLine(const std::string& program, const std::string& description)
    : CLI::App(description, program) {
  formatter(std::make_shared<HelpFormatter>());
  set_version_flag("--version", program + ", halfgrad " HALFGRAD_VERSION, "Print the version");
}

void CommandLine::parse_or_exit(int argc, char** argv, const std::function<void()>& check) {
  try {
    parse(argc, argv);
    if (check) check();
  } catch (const CLI::ParseError& error) {
    constexpr int kWrongArguments = 2;
    if (error.get_exit_code() == 0) {
      exit(error);
      std::exit(is_written() ? 0 : complain_of_output(get_name(), 1));
    }
    fmt::print(stderr, "{}: {}{}\nRun with --help for more information.\n", get_name(),
               error.what(), suggestion_for(*this, error));
    std::exit(kWrongArguments);
  }
}

CLI::Validator one_of(const std::vector<std::string>& names,
                      const std::map<std::string, std::string>& aliases) {
  const auto check = [names, aliases](std::string& given) -> std::string {
    if (const auto alias = aliases.find(given); alias != aliases.end()) given = alias->second;
    if (std::ranges::find(names, given) != names.end()) return "";
    std::vector<std::string> known = names;
    for (const auto& [alias, name] : aliases) known.push_back(alias);
    return "expected " + listed(names) + ", got " + given + did_you_mean(given, known);
  };
  return CLI::Validator(check, "{" + CLI::detail::join(names, ",") + "}");
}

CLI::Validator dtype_name(const std::vector<std::string>& more) {
  std::map<std::string, std::string> aliases{
      {"fp64", "float64"}, {"f64", "float64"},   {"double", "float64"}, {"fp32", "float32"},
      {"f32", "float32"},  {"float", "float32"}, {"fp16", "float16"},   {"f16", "float16"},
      {"half", "float16"}, {"bf16", "bfloat16"}};
  std::vector<std::string> names{"float64", "float32", "float16", "bfloat16"};
  for (const std::string& name : names) aliases["torch." + name] = name;
  names.insert(names.end(), more.begin(), more.end());
  return one_of(names, aliases);
}

std::map<std::string, std::string> precision_aliases() {
  return {{"float32", "fp32"}, {"float", "fp32"}, {"f32", "fp32"},     {"float16", "fp16"},
          {"half", "fp16"},    {"f16", "fp16"},   {"bfloat16", "bf16"}};
}

int run(const std::string& program, const std::function<int()>& body, int failure) {
  // A limit of the size of files (ulimit -f) is an error of the write, and does not end the
  // program.
  std::signal(SIGXFSZ, SIG_IGN);
  int status = failure;
  try {
    status = body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", program, error.what());
  }
  errno = 0;
  return is_written() ? status : complain_of_output(program, failure);
}

double printed(double x) { return std::isnan(x) ? std::abs(x) : x; }

}  // namespace programs
