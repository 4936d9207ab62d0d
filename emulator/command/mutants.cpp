#include <halfgrad/emulator/command/mutants.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <regex>
#include <set>
#include <stdexcept>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/command/google_tests.h>
#include <halfgrad/emulator/command/in_parallel.h>
#include <halfgrad/emulator/command/mutant_run.h>
#include <halfgrad/emulator/command/output_file.h>
#include <halfgrad/emulator/report/source_text.h>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::json;

/// Names the check or the exit code that shows the mutant; "" if the run looks like a good one.
std::string noticed_by(const MutantRun& done, double limit) {
  if (const std::string error = done.first_error(); !error.empty()) return error;
  if (done.seconds > limit) {
    return "did not end in " + std::to_string(static_cast<int>(limit)) + " s";
  }
  return done.run.code == 0 ? "" : "exit code " + std::to_string(done.run.code);
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
  std::string found = {};  ///< see noticed_by()
  std::size_t tests = 0;   ///< how many tests of GoogleTest execute the line
};

/// " by 3 tests", if tests were chosen.
std::string text_of_tests(const Trial& trial) {
  if (trial.tests == 0) return "";
  return " by " + std::to_string(trial.tests) + (trial.tests == 1 ? " test" : " tests");
}

class Trials {
 public:
  explicit Trials(const CommandOptions& options) : options_(options) {}

  int run() {
    const MutantRun unchanged = run_mutant(options_, options_.program, "", {});
    if (!unchanged.passed()) return refuse(unchanged);
    seconds_ = unchanged.seconds;
    choose(unchanged.mutants());
    if (trials_.empty()) {
      std::fprintf(stderr,
                   "halfgrad-emulate: expected a kernel line that a mutant changes, got none: "
                   "compile with -lineinfo, and let --mutants=REGEX match KIND:FILE:LINE\n");
      return kNothingChecked;
    }
    std::fprintf(stderr, "halfgrad-emulate: %zu mutants; the program takes %.2f s\n",
                 trials_.size(), seconds_);
    if (options_.gtest) measure_tests();
    in_parallel(trials_.size(), options_.jobs, [&](std::size_t i) { try_one(trials_[i]); });
    write_json();
    return summarise_trials();
  }

 private:
  static int refuse(const MutantRun& unchanged) {
    const std::string error = unchanged.first_error();
    const int code = unchanged.run.code;
    std::fprintf(stderr,
                 "halfgrad-emulate: expected the unchanged program to return 0 without errors, "
                 "got exit code %d%s%s%s\n",
                 code, error.empty() ? "" : " and the error ", error.c_str(),
                 error.empty() ? "" : "; --check chooses the checks");
    if (code != 0) return code;
    return error.empty() ? kNothingChecked : kErrorsFound;
  }

  void choose(const std::set<Mutant>& mutants) {
    const std::regex wanted(options_.mutants);
    for (const Mutant& mutant : mutants) {
      if (std::regex_search(to_string(mutant), wanted)) trials_.push_back({mutant});
    }
  }

  /// The fastest tests first.
  void measure_tests() {
    tests_ = google_tests(options_);
    std::sort(tests_.begin(), tests_.end(),
              [](const GoogleTest& a, const GoogleTest& b) { return a.seconds < b.seconds; });
  }

  std::string found_in(const std::vector<std::string>& program, const Mutant& mutant,
                       double seconds) const {
    const double limit = mutant_limit(seconds);
    return noticed_by(
        run_mutant(options_, program, to_string(mutant), {.silent = true, .seconds = limit}),
        limit);
  }

  /// Runs the tests that execute the line, in groups that grow: most mutants are found at once, and
  /// few starts of the program are needed for the others.
  std::string found_by_tests(Trial& trial) const {
    std::vector<const GoogleTest*> tests;
    for (const GoogleTest& test : tests_) {
      if (test.mutants.contains(trial.mutant)) tests.push_back(&test);
    }
    trial.tests = tests.size();
    // Only tests that do not pass alone execute the line, or none does.
    if (tests.empty()) return found_in(options_.program, trial.mutant, seconds_);
    constexpr std::size_t kGrowth = 4, kMost = 512;  // an argument has at most 128 KiB
    std::size_t size = 1;
    for (std::size_t begin = 0; begin < tests.size(); size = std::min(kMost, size * kGrowth)) {
      const std::size_t end = std::min(begin + size, tests.size());
      std::vector<std::string> names;
      double seconds = 0;
      for (; begin < end; ++begin) {
        names.push_back(tests[begin]->name);
        seconds += tests[begin]->seconds;
      }
      std::string found = found_in(with_tests(options_.program, names), trial.mutant, seconds);
      if (!found.empty()) return found;
    }
    return "";
  }

  void try_one(Trial& trial) {
    trial.found =
        options_.gtest ? found_by_tests(trial) : found_in(options_.program, trial.mutant, seconds_);
    const std::scoped_lock lock(printing_);
    std::fprintf(stderr, "%4zu/%zu  %s  %s%s%s\n", ++done_, trials_.size(),
                 line_of(trial.mutant).c_str(),
                 trial.found.empty() ? "NOT FOUND" : "found: ", trial.found.c_str(),
                 trial.found.empty() ? text_of_tests(trial).c_str() : "");
  }

  void write_json() const {
    if (options_.json.empty()) return;
    Json list = Json::array();
    for (const auto& [mutant, found, tests] : trials_) {
      list.push_back({{"kind", mutant_name(mutant.kind)},
                      {"file", mutant.at.file},
                      {"line", mutant.at.line},
                      {"found", found}});
      if (options_.gtest) list.back()["tests"] = tests;
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
    for (const Trial& trial : trials_) {
      if (!trial.found.empty()) continue;
      std::fprintf(stderr, "  %s\n      %s\n", line_of(trial.mutant).c_str(),
                   sources.line(trial.mutant.at.file, trial.mutant.at.line).c_str());
    }
    return missed == 0 ? 0 : kErrorsFound;
  }

  const CommandOptions& options_;
  std::vector<Trial> trials_;
  std::vector<GoogleTest> tests_;
  double seconds_ = 0;  ///< the unchanged program's
  std::mutex printing_;
  std::size_t done_ = 0;
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
