#include <halfgrad/emulator/command/mutants.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/command/emulated_run.h>
#include <halfgrad/emulator/command/output_file.h>
#include <halfgrad/emulator/ptx/mutation.h>
#include <halfgrad/emulator/report/source_text.h>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::json;

/// A mutant may run this many times as long as the unchanged program, and some seconds more.
constexpr double kMostTime = 10, kMoreSeconds = 10;

/// Mutants of all lines that the run executed.
std::set<Mutant> mutants_of(const std::string& json) {
  std::set<Mutant> mutants;
  const Json report = Json::parse(json);
  for (const Json& kernel : report.at("kernels")) {
    for (const Json& text : kernel.at("mutants")) {
      // A line of PTX has no name that holds in another build.
      const auto name = text.get<std::string>();
      if (name.find("::") == std::string::npos) mutants.insert(parse_mutant(name));
    }
  }
  return mutants;
}

/// Kind of the first error in a report, or "".
std::string first_error(const std::string& json) {
  if (json.empty()) return "";
  const Json report = Json::parse(json);
  for (const Json& finding : report.at("findings")) {
    if (finding.at("severity") == "error") return finding.at("kind").get<std::string>();
  }
  return "";
}

/// Names the check or the exit code that shows the mutant; "" if the run looks like a good one.
std::string noticed_by(const EmulatedRun& run, double seconds, double limit) {
  if (const std::string error = first_error(run.json); !error.empty()) return error;
  if (seconds > limit) return "did not end in " + std::to_string(static_cast<int>(limit)) + " s";
  return run.code == 0 ? "" : "exit code " + std::to_string(run.code);
}

/// "barrier    kernels/reduce.cu:31", with the file's path from the current folder.
std::string line_of(const Mutant& mutant) {
  const std::filesystem::path path = std::filesystem::path(mutant.at.file).lexically_normal();
  const std::string relative = path.lexically_proximate(std::filesystem::current_path()).string();
  const std::string file = relative.starts_with("..") ? path.string() : relative;
  std::string kind = mutant_name(mutant.kind);
  kind.resize(10, ' ');
  return kind + " " + file + ":" + std::to_string(mutant.at.line);
}

struct Trial {
  Mutant mutant;
  std::string found;  ///< see noticed_by()
};

class Trials {
 public:
  explicit Trials(const CommandOptions& options) : options_(options) {}

  int run() {
    const EmulatedRun unchanged = run_once("", {});
    const std::string error = first_error(unchanged.json);
    if (unchanged.code != 0 || !error.empty() || unchanged.json.empty()) {
      std::fprintf(stderr,
                   "halfgrad-emulate: expected the unchanged program to return 0 without errors, "
                   "got exit code %d%s%s\n",
                   unchanged.code, error.empty() ? "" : " and the error ", error.c_str());
      if (unchanged.code != 0) return unchanged.code;
      return error.empty() ? kNothingChecked : kErrorsFound;
    }
    limit_ = kMostTime * seconds_ + kMoreSeconds;
    const std::vector<Mutant> mutants = chosen(mutants_of(unchanged.json));
    if (mutants.empty()) {
      std::fprintf(stderr,
                   "halfgrad-emulate: expected a kernel line that a mutant changes, got none: "
                   "compile with -lineinfo, and let --mutants=REGEX match KIND:FILE:LINE\n");
      return kNothingChecked;
    }
    std::fprintf(stderr, "halfgrad-emulate: %zu mutants; the program takes %.2f s\n",
                 mutants.size(), seconds_);
    for (const Mutant& mutant : mutants) try_one(mutant, mutants.size());
    write_json();
    return summarise_trials();
  }

 private:
  EmulatedRun run_once(const std::string& mutant, const RunLimits& limits) {
    Settings settings = options_.settings;
    settings.mutant = mutant;
    const auto begin = std::chrono::steady_clock::now();
    EmulatedRun done = run_emulated(options_.program, settings, limits);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return done;
  }

  std::vector<Mutant> chosen(const std::set<Mutant>& mutants) const {
    const std::regex wanted(options_.mutants);
    std::vector<Mutant> result;
    for (const Mutant& mutant : mutants) {
      if (std::regex_search(to_string(mutant), wanted)) result.push_back(mutant);
    }
    return result;
  }

  void try_one(const Mutant& mutant, std::size_t count) {
    const EmulatedRun done = run_once(to_string(mutant), {.silent = true, .seconds = limit_});
    trials_.push_back({mutant, noticed_by(done, seconds_, limit_)});
    const std::string& found = trials_.back().found;
    std::fprintf(stderr, "%4zu/%zu  %s  %s%s\n", trials_.size(), count, line_of(mutant).c_str(),
                 found.empty() ? "NOT FOUND" : "found: ", found.c_str());
  }

  void write_json() const {
    if (options_.json.empty()) return;
    Json list = Json::array();
    for (const auto& [mutant, found] : trials_) {
      list.push_back({{"kind", mutant_name(mutant.kind)},
                      {"file", mutant.at.file},
                      {"line", mutant.at.line},
                      {"found", found}});
    }
    write_file(options_.json, Json{{"mutants", list}}.dump(1) + "\n");
  }

  int summarise_trials() const {
    std::size_t missed = 0;
    for (const Trial& trial : trials_) missed += trial.found.empty();
    std::fprintf(stderr, "halfgrad-emulate: %zu of %zu mutants were found%s\n",
                 trials_.size() - missed, trials_.size(),
                 missed == 0 ? "" : "; nothing noticed these:");
    SourceText sources;
    for (const auto& [mutant, found] : trials_) {
      if (!found.empty()) continue;
      std::fprintf(stderr, "  %s\n      %s\n", line_of(mutant).c_str(),
                   sources.line(mutant.at.file, mutant.at.line).c_str());
    }
    return missed == 0 ? 0 : kErrorsFound;
  }

  const CommandOptions& options_;
  std::vector<Trial> trials_;
  double seconds_ = 0;  ///< the last run's
  double limit_ = 0;
};

}  // namespace

int try_mutants(const CommandOptions& options) { return Trials(options).run(); }

void expect_mutant(const std::string& json, const std::string& mutant) {
  if (mutant.empty()) return;
  const Mutant wanted = parse_mutant(mutant);
  for (const Mutant& executed : mutants_of(json)) {
    if (executed.kind == wanted.kind && wanted.is_at(executed.at)) return;
  }
  throw std::runtime_error("--mutate " + mutant +
                           ": expected a line with such an instruction "
                           "that the program executes; --mutants lists them");
}

}  // namespace halfgrad::emulator
