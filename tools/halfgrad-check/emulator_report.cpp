#include "emulator_report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace halfgrad::check {
namespace {

using Json = nlohmann::ordered_json;

/// A source line counts as uncoalesced if it asks for this many times the sectors that it needs.
constexpr double kUncoalesced = 1.5;

std::string counted(std::size_t n, const std::string& noun, const std::string& plural) {
  return fmt::format("{} {}", n, n == 1 ? noun : plural);
}

std::string place(const Json& line) {
  const auto file = line.at("file").get<std::string>();
  return fmt::format("{}:{}", file.empty() ? "PTX line" : file, line.at("line").get<unsigned>());
}

Json uncoalesced_lines(const Json& report) {
  Json lines = Json::array();
  for (const Json& kernel : report.at("kernels")) {
    for (const Json& line : kernel.at("lines")) {
      const auto asked = line.at("sectors").get<double>();
      if (asked <= kUncoalesced * line.at("sectors_needed").get<double>()) continue;
      lines.push_back({{"kernel", kernel.at("name")},
                       {"file", line.at("file")},
                       {"line", line.at("line")},
                       {"sectors", line.at("sectors")},
                       {"sectors_needed", line.at("sectors_needed")}});
    }
  }
  return lines;
}

/// The part of the emulator's report that decides whether a kernel passes.
Json summary_of(const Json& report) {
  const Json& findings = report.at("findings");
  const auto errors = std::ranges::count_if(
      findings, [](const Json& finding) { return finding.at("severity") == "error"; });
  Json kernels = Json::array();
  for (const Json& kernel : report.at("kernels")) {
    kernels.push_back({{"name", kernel.at("name")}, {"launches", kernel.at("launches")}});
  }
  return {{"errors", errors},
          {"notes", static_cast<std::ptrdiff_t>(findings.size()) - errors},
          {"launches", report.at("launches").size()},
          {"kernels", std::move(kernels)},
          {"findings", findings},
          {"uncoalesced", uncoalesced_lines(report)}};
}

std::string indented(const std::string& text) {
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) result += "  " + line + '\n';
  return result;
}

std::string text_of(const Json& summary) {
  const auto count = [&](const char* key) { return summary.at(key).get<std::size_t>(); };
  std::string text = fmt::format(
      "under the emulator: {}, {}, {} in {} of {}\n", count("errors") == 0 ? "passed" : "FAILED",
      counted(count("errors"), "error", "errors"), counted(count("notes"), "note", "notes"),
      counted(count("launches"), "launch", "launches"),
      counted(summary.at("kernels").size(), "kernel", "kernels"));
  for (const Json& finding : summary.at("findings")) {
    text += indented(finding.at("text").get<std::string>());
  }
  if (summary.at("uncoalesced").empty()) return text;
  text += "  uncoalesced accesses, in sectors of 32 bytes; the budget does not count them\n";
  for (const Json& line : summary.at("uncoalesced")) {
    text += fmt::format("    {}: {} asked for, {} needed\n", place(line),
                        line.at("sectors").get<std::uint64_t>(),
                        line.at("sectors_needed").get<std::uint64_t>());
  }
  return text;
}

/// A JUnit document without its first line, the XML declaration.
std::string suite_of(const std::string& junit) { return junit.substr(junit.find('\n') + 1); }

}  // namespace

void add_emulator_report(Documents& check, const std::string& emulator_json,
                         const std::string& emulator_junit) {
  const Json report = emulator_json.empty() ? Json() : Json::parse(emulator_json);
  // A launch that a finding aborted is not listed.
  if (report.is_null() || (report.at("launches").empty() && report.at("findings").empty())) {
    throw std::runtime_error(
        "--emulate: expected kernel launches in the emulator, got none; the library must link the "
        "shared CUDA runtime without an RPATH of its own: nvcc -cudart shared -gencode "
        "arch=compute_80,code=compute_80");
  }
  const Json summary = summary_of(report);
  Json json = Json::parse(check.json);
  const bool clean = summary.at("errors") == 0, passed = json.at("passed").get<bool>() && clean;
  const bool checked = json.at("checked").get<bool>() || !clean;
  json.at("passed") = passed;
  json["emulator"] = summary;
  check.text += text_of(summary);
  check.json = json.dump();
  check.junit = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n" +
                suite_of(check.junit) + suite_of(emulator_junit) + "</testsuites>\n";
  check.exit_code = passed ? 0 : checked ? 1 : 2;
}

}  // namespace halfgrad::check
