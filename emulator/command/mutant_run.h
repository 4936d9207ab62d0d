#pragma once

#include <set>
#include <string>
#include <vector>

#include <halfgrad/emulator/command/emulated_run.h>
#include <halfgrad/emulator/command/options.h>
#include <halfgrad/emulator/ptx/mutation.h>

namespace halfgrad::emulator {

/// A run of a program, unchanged or with one mutant.
struct MutantRun {
  EmulatedRun run;
  double seconds = 0;

  /// Kind of the first error that a check reported, or "".
  std::string first_error() const;
  /// Whether the program returned 0, no check reported an error, and there is a report.
  bool passed() const;
  /// The mutants of all kernel lines that the run executed.
  std::set<Mutant> mutants() const;
};

/// Runs a program as `options` say, with a mutant unless `mutant` is "". The output of a run with a
/// limit is discarded.
MutantRun run_mutant(const CommandOptions& options, const std::vector<std::string>& program,
                     const std::string& mutant, const RunLimits& limits);

/// The limit of a run whose unchanged program takes that long.
double mutant_limit(double seconds);

/// The mutants of all kernel lines that a report says were executed.
std::set<Mutant> mutants_of(const std::string& json);

}  // namespace halfgrad::emulator
