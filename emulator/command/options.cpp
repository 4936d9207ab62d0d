#include <halfgrad/emulator/command/options.h>

#include <array>
#include <charconv>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <CLI/CLI.hpp>

#include <halfgrad/emulator/ptx/mutation.h>
#include <halfgrad/emulator/report/gpu_model.h>

namespace halfgrad::emulator {
namespace {

constexpr const char* kDescription =
    "halfgrad-emulate [OPTIONS] PROGRAM [ARGUMENTS]\n\n"
    "Runs a CUDA program without a GPU, checks what its kernels do, and counts it.\n"
    "Build the program with the shared CUDA runtime and with PTX:\n"
    "  nvcc -cudart shared -lineinfo -gencode arch=compute_80,code=compute_80 a.cu -o a\n";
constexpr const char* kExamples =
    "\nExamples:\n"
    "  halfgrad-emulate ./a --size 100                  all checks\n"
    "  halfgrad-emulate --report a.html ./a             a page with findings and counters\n"
    "  halfgrad-emulate --streams lazy --seed 7 ./a     finds missing waits between streams\n"
    "  halfgrad-emulate --check memory,race ./a         two checks only\n"
    "  halfgrad-emulate --step=softmax ./a              every instruction of kernels *softmax*\n"
    "  halfgrad-emulate --mutants ./tests               which mistakes in kernels would ./tests "
    "miss?\n"
    "  halfgrad-emulate --mutants --gtest --jobs 8 ./tests    the same, faster: chosen tests only\n"
    "\nThe exit code is the program's own if that is not 0, otherwise 9 if an error was found,\n"
    "and 0 if none was.\n";

using Check = std::pair<const char*, bool Settings::*>;
constexpr std::array<Check, 5> kChecks = {{{"memory", &Settings::check_memory},
                                           {"race", &Settings::check_race},
                                           {"init", &Settings::check_init},
                                           {"sync", &Settings::check_sync},
                                           {"leak", &Settings::check_leak}}};

void choose_checks(Settings& settings, const std::string& list) {
  for (const auto& [known, member] : kChecks) settings.*member = false;
  std::stringstream names(list);
  for (std::string name; std::getline(names, name, ',');) {
    bool found = name == "none";
    for (const auto& [known, member] : kChecks) {
      if (name != known) continue;
      settings.*member = true;
      found = true;
    }
    if (!found) {
      throw CLI::ValidationError("--check",
                                 "expected memory, race, init, sync, leak or none, got " + name);
    }
  }
}

std::size_t bytes_option(const std::string& text) {
  try {
    return parse_bytes(text);
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError("--memory", error.what());
  }
}

/// Why a text names no mutant, or "".
std::string mistake_in_mutant(const std::string& text) {
  try {
    parse_mutant(text);
    return "";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

void add_options(CLI::App& app, CommandOptions& options) {
  Settings& settings = options.settings;
  app.add_option_function<std::string>(
         "--check", [&](const std::string& list) { choose_checks(settings, list); },
         "Checks: memory, race, init, sync, leak (all by default), or none")
      ->type_name("LIST");
  app.add_option_function<std::string>(
         "--streams", [&](const std::string& mode) { settings.lazy_streams = mode == "lazy"; },
         "eager: work runs at once; lazy: as late as something waits for it")
      ->check(CLI::IsMember({"eager", "lazy"}));
  app.add_option("--seed", settings.seed, "Order of lazy streams");
  app.add_option("--devices", settings.devices, "Number of GPUs")->check(CLI::Range(1, 64));
  app.add_option_function<std::string>(
         "--memory", [&](const std::string& text) { settings.memory = bytes_option(text); },
         "Memory of each GPU, such as 8G")
      ->type_name("SIZE");
  app.add_option("--patience", settings.collective_patience,
                 "Milliseconds for which a rank of NCCL waits while the program calls nothing");
  app.add_option("--gpu", settings.gpu, "Limits and figures of this GPU")
      ->check(CLI::IsMember(gpu_names()));
  app.add_option("--threads", settings.threads, "Host threads that run blocks; 0: one a core");
  app.add_flag_callback(
      "--continue", [&] { settings.continue_after_abort = true; },
      "Later calls work although a kernel was aborted");
  app.add_flag("--quiet", settings.quiet, "Print no findings and no summary; reports have them");
  app.add_flag("--step{*}", options.step_kernel,
               "Print every instruction with its registers; --step=KERNEL: of kernels whose name "
               "contains KERNEL");
  app.add_option("--suppress", settings.suppress,
                 "File of known findings, which become notes: on each line a kind or *, and a text "
                 "of the report")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_option(
         "--mutate", settings.mutant,
         "Change one line of the kernels. KIND: barrier or store (is left out), bound (< or "
         "<= of integers), threshold (of floats), sign (+ or -), extremum (min or max)")
      ->type_name("KIND:FILE:LINE")
      ->check([](const std::string& text) { return mistake_in_mutant(text); });
  app.add_option("--report", options.html, "Write a page of HTML")->type_name("FILE");
  app.add_option("--json", options.json, "Write findings and counters as JSON")->type_name("FILE");
  app.add_option("--junit", options.junit, "Write findings as JUnit's XML")->type_name("FILE");
  app.add_option("--trace", options.trace, "Write launches for Perfetto")->type_name("FILE");
  auto* const mutants = app.add_flag(
      "--mutants{.}", options.mutants,
      "Run the program once for each such change, and list those that nothing noticed; "
      "--mutants=REGEX: only changes whose KIND:FILE:LINE matches");
  for (const char* other : {"--mutate", "--step", "--junit", "--trace", "--report"}) {
    mutants->excludes(app.get_option(other));
  }
  app.add_flag("--gtest", options.gtest,
               "With --mutants, for a program of GoogleTest: run only the tests that execute the "
               "changed line, until one notices")
      ->needs(mutants);
  app.add_option("--jobs", options.jobs, "With --mutants: mutants that run at a time")
      ->check(CLI::Range(1, 1024))
      ->needs(mutants);
}

}  // namespace

std::size_t parse_bytes(const std::string& text) {
  std::size_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  const std::string suffix(unit, end);
  const int shift = suffix.empty()  ? 0
                    : suffix == "K" ? 10
                    : suffix == "M" ? 20
                    : suffix == "G" ? 30
                                    : -1;
  if (error != std::errc() || shift < 0 || number == 0 || number > (~std::size_t{0} >> shift)) {
    throw std::invalid_argument("expected a size such as 512M or 8G, got " + text);
  }
  return number << shift;
}

ParsedOptions parse_command_line(int argc, char** argv) {
  CommandOptions options;
  CLI::App app(kDescription, "halfgrad-emulate");
  app.footer(kExamples);
  app.prefix_command();
  add_options(app, options);
  try {
    app.parse(argc, argv);
    options.program = app.remaining();
    options.settings.step = !options.step_kernel.empty();
    options.settings.step_kernel = options.step_kernel == "*" ? "" : options.step_kernel;
    if (options.program.empty()) throw CLI::RequiredError("PROGRAM");
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, app.exit(error) == 0 ? 0 : 2};
  }
  return {std::move(options), 0};
}

}  // namespace halfgrad::emulator
