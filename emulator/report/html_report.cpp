#include <halfgrad/emulator/report/run_report.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/report/escape.h>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHead = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>halfgrad-emulate</title><style>
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } th, td { padding: .2em .7em; text-align: right; }
th:first-child, td:first-child { text-align: left; } tr:nth-child(even) { background: #f4f4f4; }
th { border-bottom: 2px solid #999; } pre { background: #f4f4f4; padding: .8em; overflow-x: auto; }
.error { border-left: 4px solid #c00; } .note { border-left: 4px solid #c90; } .bad { color: #c00; }
</style></head><body><h1>halfgrad-emulate</h1>
)";

std::string number(double x, const char* format = "%.0f") {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, x);
  return text.data();
}

std::string cell(const std::string& text, bool bad = false) {
  return (bad ? "<td class=\"bad\">" : "<td>") + escaped(text) + "</td>";
}

std::string findings(const Json& report) {
  std::string html = "<h2>Findings</h2>\n";
  if (report.at("findings").empty()) return html + "<p>None.</p>\n";
  for (const Json& finding : report.at("findings")) {
    html += "<pre class=\"" + escaped(finding.at("severity").get<std::string>()) + "\">" +
            escaped(finding.at("text").get<std::string>()) + "</pre>\n";
  }
  return html;
}

std::vector<Json> by_predicted_time(const Json& report) {
  std::vector<Json> kernels(report.at("kernels").begin(), report.at("kernels").end());
  std::stable_sort(kernels.begin(), kernels.end(), [](const Json& a, const Json& b) {
    return a.at("predicted_seconds").get<double>() > b.at("predicted_seconds").get<double>();
  });
  return kernels;
}

std::string kernel_table(const std::vector<Json>& kernels, const Json& report) {
  std::string html =
      "<h2>Kernels</h2>\n<p>Times are <b>predicted</b> for " +
      escaped(report.at("gpu_name").get<std::string>()) +
      " by a simple model (launch latency, bandwidth, arithmetic, dependency), never "
      "measured.</p>\n<table><tr><th>kernel</th><th>launches</th><th>predicted "
      "microseconds</th><th>registers (estimated)</th><th>shared bytes</th></tr>\n";
  for (const Json& kernel : kernels) {
    html += "<tr>" + cell(kernel.at("name").get<std::string>()) +
            cell(std::to_string(kernel.at("launches").get<std::uint64_t>())) +
            cell(number(kernel.at("predicted_seconds").get<double>() * 1e6, "%.1f")) +
            cell(std::to_string(kernel.at("registers_estimated").get<unsigned>())) +
            cell(std::to_string(kernel.at("shared_bytes").get<std::uint64_t>())) + "</tr>\n";
  }
  return html + "</table>\n";
}

/// One line of the source: how full warps were, and how well accesses coalesced.
std::string source_line(const Json& line) {
  const auto value = [&](const char* key) { return line.at(key).get<double>(); };
  const std::string file = line.at("file").get<std::string>();
  const std::string place = file.empty() ? "PTX" : file;
  const double executed = value("executed"), sectors = value("sectors");
  const double lanes = executed > 0 ? value("active_lanes") / executed : 0;
  const bool scattered = sectors > 1.5 * value("sectors_needed");
  return "<tr>" + cell(place + ":" + std::to_string(line.at("line").get<unsigned>())) +
         cell(number(executed)) + cell(number(lanes, "%.1f"), lanes < 16) +
         cell(number(sectors), scattered) + cell(number(value("sectors_needed"))) +
         cell(number(value("bank_conflicts")), value("bank_conflicts") > executed) + "</tr>\n";
}

std::string line_table(const Json& kernel) {
  std::string html =
      "<h3>" + escaped(kernel.at("name").get<std::string>()) +
      "</h3>\n<table><tr><th>line</th><th>executed by warps</th><th>active lanes</th>"
      "<th>sectors asked for</th><th>sectors needed</th><th>bank conflicts</th></tr>\n";
  for (const Json& line : kernel.at("lines")) html += source_line(line);
  return html + "</table>\n";
}

}  // namespace

std::string html_report(const std::string& json, const std::string& command) {
  const Json report = Json::parse(json);
  const std::vector<Json> kernels = by_predicted_time(report);
  std::string html = kHead;
  html += "<p><code>" + escaped(command) + "</code>: " + summarise(json).text + ".</p>\n";
  html += findings(report) + kernel_table(kernels, report) + "<h2>Source lines</h2>\n";
  for (const Json& kernel : kernels) html += line_table(kernel);
  html +=
      "<p>Figures of the GPU: " + escaped(report.at("gpu_source").get<std::string>()) + ".</p>\n";
  return html + "</body></html>\n";
}

}  // namespace halfgrad::emulator
