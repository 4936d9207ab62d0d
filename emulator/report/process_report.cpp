#include <halfgrad/emulator/report/process_report.h>

#include <array>
#include <fstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::ordered_json;

Json of(const Finding& finding) {
  return {{"kind", finding_name(finding.kind)},
          {"severity", finding.severity == Severity::error ? "error" : "note"},
          {"message", finding.message},
          {"kernel", finding.kernel},
          {"file", finding.source_file},
          {"line", finding.source_line},
          {"instruction", finding.instruction},
          {"ptx_line", finding.ptx_line},
          {"block", finding.block},
          {"thread", finding.thread},
          {"address", finding.address},
          {"allocation", finding.allocation},
          {"other", finding.other},
          {"called_at", finding.called_at},
          {"count", finding.count},
          {"text", to_string(finding)}};
}

Json of(const InstructionCounters& counters) {
  return {{"executed", counters.executed},
          {"active_lanes", counters.active_lanes},
          {"sectors", counters.sectors},
          {"sectors_needed", counters.sectors_needed},
          {"bank_conflicts", counters.bank_conflicts},
          {"bytes_loaded", counters.bytes_loaded},
          {"bytes_stored", counters.bytes_stored},
          {"flops", counters.flops}};
}

Json of(const KernelRecord& kernel) {
  Json lines = Json::array();
  for (const auto& [place, counters] : kernel.lines) {
    Json line = of(counters);
    line["file"] = place.first;
    line["line"] = place.second;
    lines.push_back(std::move(line));
  }
  Json mutants = Json::array();
  for (const Mutant& mutant : kernel.mutants) mutants.push_back(to_string(mutant));
  return {{"name", kernel.name},
          {"registers_estimated", kernel.registers},
          {"shared_bytes", kernel.shared_bytes},
          {"launches", kernel.launches},
          {"lines", std::move(lines)},
          {"mutants", std::move(mutants)}};
}

Json of(const Dim3& size) { return {size.x, size.y, size.z}; }

Json of(const LaunchRecord& launch) {
  Json classes = Json::object();
  for (std::size_t i = 0; i < launch.classes.size(); ++i) {
    if (launch.classes[i] == 0) continue;
    classes[class_name(static_cast<InstructionClass>(i))] = launch.classes[i];
  }
  return {{"kernel", launch.kernel},
          {"grid", of(launch.grid)},
          {"block", of(launch.block)},
          {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
          {"begin_seconds", launch.begin_seconds},
          {"host_seconds", launch.host_seconds},
          {"warps", launch.warps},
          {"total", of(launch.total)},
          {"classes", std::move(classes)}};
}

Json of(const CallRecord& call) {
  Json json = {{"kind", call.kind}, {"name", call.name}, {"detail", call.detail}};
  if (call.cost) {
    json["bytes"] = call.cost->bytes;
    json["flops"] = call.cost->flops;
  }
  return json;
}

/// Launches of each kernel that a report lists one by one. A record takes about 10 KB in memory,
/// and some programs launch a million times. Counters of kernels contain all launches.
constexpr std::uint64_t kListedLaunches = 2000;

std::vector<LaunchRecord> listed(std::vector<LaunchRecord> launches) {
  std::vector<std::uint64_t> seen;
  std::erase_if(launches, [&](const LaunchRecord& launch) {
    if (launch.kernel >= seen.size()) seen.resize(launch.kernel + 1);
    return ++seen[launch.kernel] > kListedLaunches;
  });
  return launches;
}

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(of(value));
  return list;
}

}  // namespace

const char* class_name(InstructionClass instruction_class) {
  static constexpr std::array<const char*, static_cast<std::size_t>(InstructionClass::count)>
      kNames = {"integer",    "f16",    "f32",  "f64",     "special_function",
                "conversion", "move",   "load", "store",   "atomic",
                "async_copy", "matrix", "warp", "barrier", "control"};
  return kNames[static_cast<std::size_t>(instruction_class)];
}

std::string report_json(const std::vector<Finding>& findings, const LaunchLog& launches,
                        const Settings& settings) {
  const Json report = {{"format", "halfgrad-emulate 1"},
                       {"gpu", settings.gpu},
                       {"findings", list_of(findings)},
                       {"kernels", list_of(launches.kernels())},
                       {"launches", list_of(listed(launches.launches()))},
                       {"calls", list_of(launches.calls())}};
  return report.dump(1, ' ', false, Json::error_handler_t::replace);
}

void write_report(const std::vector<Finding>& findings, const LaunchLog& launches,
                  const Settings& settings) {
  if (settings.report_json.empty()) return;
  std::ofstream file(settings.report_json);
  file << report_json(findings, launches, settings) << '\n';
  file.close();
  if (!file) throw std::runtime_error("report: cannot write " + settings.report_json);
}

}  // namespace halfgrad::emulator
