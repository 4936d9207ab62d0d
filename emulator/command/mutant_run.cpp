#include <halfgrad/emulator/command/mutant_run.h>

#include <chrono>

#include <nlohmann/json.hpp>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::json;

}  // namespace

std::string MutantRun::first_error() const {
  if (run.json.empty()) return "";
  const Json report = Json::parse(run.json);
  for (const Json& finding : report.at("findings")) {
    if (finding.at("severity") == "error") return finding.at("kind").get<std::string>();
  }
  return "";
}

bool MutantRun::passed() const {
  return run.code == 0 && !run.json.empty() && first_error().empty();
}

std::set<Mutant> MutantRun::mutants() const {
  return run.json.empty() ? std::set<Mutant>() : mutants_of(run.json);
}

MutantRun run_mutant(const CommandOptions& options, const std::vector<std::string>& program,
                     const std::string& mutant, const RunLimits& limits) {
  Settings settings = options.settings;
  settings.mutant = mutant;
  if (options.jobs > 1 && settings.threads == 0) settings.threads = 1;
  const auto begin = std::chrono::steady_clock::now();
  MutantRun result{.run = run_emulated(program, settings, limits)};
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

double mutant_limit(double seconds) {
  constexpr double kMostTime = 10, kMoreSeconds = 10;
  return kMostTime * seconds + kMoreSeconds;
}

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

}  // namespace halfgrad::emulator
