#include <halfgrad/emulator/report/run_report.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/report/escape.h>
#include <halfgrad/emulator/report/html_style.h>
#include <halfgrad/emulator/report/source_text.h>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::ordered_json;

/// A line is marked if it asks for this many times the sectors that it needs.
constexpr double kUncoalesced = 1.5;
constexpr double kHalfWarp = 16;

std::string decimal(double x) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", x);
  return text.data();
}

/// "1,234,567".
std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

/// A line without memory accesses has an empty cell, not a column of zeros.
std::string count_text(std::uint64_t number) { return number == 0 ? "" : grouped(number); }

std::string cell(const std::string& text, const char* style = "") {
  const std::string attribute = *style == 0 ? "" : std::string(" class=\"") + style + "\"";
  return "<td" + attribute + ">" + escaped(text) + "</td>";
}

std::string without(std::string text, const std::string& part) {
  if (part.empty()) return text;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at)) {
    text.erase(at, part.size());
  }
  return text;
}

/// Names of kernels without the namespace that C++ gives to functions of one file.
std::string readable(const std::string& text) { return without(text, "(anonymous namespace)::"); }

std::string source_of(SourceText& source, const std::string& file, unsigned line) {
  const std::string text = source.line(file, line);
  return text.empty() ? "" : "<code>" + escaped(text) + "</code>";
}

/// A finding: what, the source line, and then where and how often.
std::string finding_card(const Json& finding, SourceText& source) {
  const std::string file = finding.value("file", "");
  const unsigned line = finding.value("line", 0u);
  const std::string folder = file.substr(0, file.size() - file_name(file).size());
  const std::string text = readable(without(finding.at("text").get<std::string>(), folder));
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string html = "<div class=\"finding " + escaped(finding.at("severity").get<std::string>()) +
                     "\"><h3>" + escaped(text.substr(0, end)) + "</h3>\n";
  const std::string code = source.line(file, line);
  if (!code.empty()) {
    html += "<pre class=\"source\">" + std::to_string(line) + "  " + escaped(code) + "</pre>\n";
  }
  if (end + 1 < text.size()) html += "<pre>" + escaped(text.substr(end + 1)) + "</pre>";
  return html + "</div>\n";
}

std::string findings(const Json& report, SourceText& source) {
  std::string html = "<h2>Findings</h2>\n";
  if (report.at("findings").empty()) return html + "<p>None.</p>\n";
  for (const char* severity : {"error", "note"}) {
    for (const Json& finding : report.at("findings")) {
      if (finding.at("severity") == severity) html += finding_card(finding, source);
    }
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

/// One line of the source: how full warps were, and how well accesses coalesced.
std::string source_line(const Json& line, SourceText& source) {
  const auto count = [&](const char* key) { return line.at(key).get<std::uint64_t>(); };
  const auto file = line.at("file").get<std::string>();
  const auto number = line.at("line").get<unsigned>();
  const std::uint64_t executed = count("executed"), sectors = count("sectors");
  const auto whole = static_cast<double>(std::max<std::uint64_t>(executed, 1));
  const double lanes = static_cast<double>(count("active_lanes")) / whole;
  const bool scattered =
      static_cast<double>(sectors) > kUncoalesced * static_cast<double>(count("sectors_needed"));
  const std::string place = (file.empty() ? "PTX" : file_name(file)) + ":" + std::to_string(number);
  return "<tr>" + cell(place, "text") + "<td class=\"text\">" + source_of(source, file, number) +
         "</td>" + cell(grouped(executed)) + cell(decimal(lanes), lanes < kHalfWarp ? "bad" : "") +
         cell(count_text(sectors), scattered ? "bad" : "") +
         cell(count_text(count("sectors_needed"))) +
         cell(count_text(count("bank_conflicts")),
              count("bank_conflicts") > executed ? "bad" : "") +
         "</tr>\n";
}

std::string line_table(const Json& kernel, SourceText& source) {
  std::string html = "<h3>" + escaped(readable(kernel.at("name").get<std::string>())) +
                     "</h3>\n<table><tr><th class=\"text\">line</th><th class=\"text\">source</th>"
                     "<th>executed<br>by warps</th><th>active<br>lanes</th><th>sectors<br>asked "
                     "for</th><th>sectors<br>needed</th><th>bank<br>conflicts</th></tr>\n";
  for (const Json& line : kernel.at("lines")) html += source_line(line, source);
  return html + "</table>\n";
}

std::string line_tables(const std::vector<Json>& kernels, SourceText& source) {
  if (kernels.empty()) {
    return "<h2>Source lines and kernels</h2>\n<p>No kernel was launched, so there is nothing "
           "to count.</p>\n";
  }
  std::string html =
      "<h2>Source lines</h2>\n<p class=\"explanation\">Counted exactly, for all launches of a "
      "kernel. A sector is 32 bytes, the unit in which a GPU moves memory: a warp whose 32 lanes "
      "read neighbouring floats needs 4 sectors. Red: fewer than 16 of 32 lanes active, 1.5 times "
      "the needed sectors, or more bank conflicts than executions.</p>\n";
  for (const Json& kernel : kernels) html += line_table(kernel, source);
  return html;
}

std::string kernel_table(const std::vector<Json>& kernels, const Json& report) {
  if (kernels.empty()) return "";
  std::string html =
      "<h2>Kernels</h2>\n<table><tr><th class=\"text\">kernel</th><th>launches</th>"
      "<th class=\"predicted\">predicted<br>microseconds</th><th>registers<br>(estimated)</th>"
      "<th>shared<br>bytes</th></tr>\n";
  for (const Json& kernel : kernels) {
    html += "<tr>" + cell(readable(kernel.at("name").get<std::string>()), "text") +
            cell(grouped(kernel.at("launches").get<std::uint64_t>())) +
            cell(decimal(kernel.at("predicted_seconds").get<double>() * 1e6), "predicted") +
            cell(std::to_string(kernel.at("registers_estimated").get<unsigned>())) +
            cell(grouped(kernel.at("shared_bytes").get<std::uint64_t>())) + "</tr>\n";
  }
  return html +
         "</table>\n<p class=\"explanation\">Times are <b>predicted</b>, never measured, for " +
         escaped(report.at("gpu_name").get<std::string>()) +
         ": the latency of a launch, plus the longest of memory, arithmetic and dependency. Use "
         "them to compare two versions of a kernel. Figures of the GPU: " +
         escaped(report.at("gpu_source").get<std::string>()) + ".</p>\n";
}

}  // namespace

std::string html_report(const std::string& json, const std::string& command) {
  const Json report = Json::parse(json);
  const std::vector<Json> kernels = by_predicted_time(report);
  SourceText source;
  std::string html = kHtmlHead;
  html += "<p><code>" + escaped(command) + "</code></p>\n<p class=\"summary\">" +
          summarise(json).text + "</p>\n";
  html += findings(report, source) + line_tables(kernels, source) + kernel_table(kernels, report);
  return html + "</body></html>\n";
}

}  // namespace halfgrad::emulator
