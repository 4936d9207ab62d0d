#pragma once

#include <cstdint>
#include <string>

namespace halfgrad::emulator {

/// Reports that halfgrad-emulate makes from the JSON of the program's process (process_report.h).
/// Each function takes that text with predictions and returns the text of a file.

/// Adds the predicted times and occupancies of every launch on the report's GPU.
std::string with_predictions(const std::string& process_json);

struct RunSummary {
  std::uint64_t errors = 0, notes = 0, launches = 0;
  std::string text;  ///< "2 errors, 1 note in 41 launches"
};
RunSummary summarise(const std::string& json);

/// A self-contained HTML page: findings, kernels by predicted time, and a table of source lines.
std::string html_report(const std::string& json, const std::string& command);
/// JUnit's XML, one test case for each kind of finding.
std::string junit_report(const std::string& json);
/// Events for Perfetto or chrome://tracing: launches one after the other in predicted time.
std::string trace_report(const std::string& json);

}  // namespace halfgrad::emulator
