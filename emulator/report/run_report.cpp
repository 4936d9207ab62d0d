#include <halfgrad/emulator/report/run_report.h>

#include <map>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/report/escape.h>
#include <halfgrad/emulator/report/prediction.h>

namespace halfgrad::emulator {
namespace {

using Json = nlohmann::ordered_json;

Dim3 size_of(const Json& json) {
  return {json.at(0).get<unsigned>(), json.at(1).get<unsigned>(), json.at(2).get<unsigned>()};
}

LaunchRecord launch_of(const Json& json) {
  LaunchRecord launch;
  launch.grid = size_of(json.at("grid"));
  launch.block = size_of(json.at("block"));
  launch.dynamic_shared_bytes = json.at("dynamic_shared_bytes").get<std::size_t>();
  launch.warps = json.at("warps").get<std::uint64_t>();
  launch.total.executed = json.at("total").at("executed").get<std::uint64_t>();
  launch.total.sectors = json.at("total").at("sectors").get<std::uint64_t>();
  launch.total.flops = json.at("total").at("flops").get<std::uint64_t>();
  for (std::size_t i = 0; i < launch.classes.size(); ++i) {
    const char* name = class_name(static_cast<InstructionClass>(i));
    launch.classes[i] = json.at("classes").value(name, std::uint64_t{0});
  }
  return launch;
}

KernelRecord kernel_of(const Json& json) {
  return {.name = json.at("name").get<std::string>(),
          .registers = json.at("registers_estimated").get<unsigned>(),
          .shared_bytes = json.at("shared_bytes").get<std::size_t>(),
          .lines = {},
          .mutants = {}};
}

std::string counted(std::uint64_t n, const std::string& noun, const std::string& plural) {
  return std::to_string(n) + " " + (n == 1 ? noun : plural);
}

}  // namespace

std::string with_predictions(const std::string& process_json) {
  Json report = Json::parse(process_json);
  const GpuModel gpu = gpu_model(report.at("gpu").get<std::string>());
  report["gpu_name"] = gpu.name;
  report["gpu_source"] = gpu.source;
  std::vector<double> seconds(report.at("kernels").size());
  std::vector<std::uint64_t> listed(seconds.size());
  for (Json& launch : report.at("launches")) {
    const auto index = launch.at("kernel").get<std::size_t>();
    const Prediction predicted =
        predict(gpu, launch_of(launch), kernel_of(report.at("kernels").at(index)));
    launch["predicted_seconds"] = predicted.seconds;
    launch["predicted_occupancy"] = predicted.occupancy;
    launch["predicted_bound_by"] = predicted.bound_by;
    seconds[index] += predicted.seconds;
    ++listed[index];
  }
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    // Launches that are not listed count as the mean of those that are.
    Json& kernel = report.at("kernels").at(i);
    const auto launches = kernel.at("launches").get<double>();
    const double all = listed[i] == 0 ? 1 : launches / static_cast<double>(listed[i]);
    kernel["predicted_seconds"] = seconds[i] * all;
  }
  return report.dump(1);
}

RunSummary summarise(const std::string& json) {
  const Json report = Json::parse(json);
  RunSummary summary;
  for (const Json& kernel : report.at("kernels")) {
    summary.launches += kernel.at("launches").get<std::uint64_t>();
  }
  for (const Json& finding : report.at("findings")) {
    const bool error = finding.at("severity") == "error";
    ++(error ? summary.errors : summary.notes);
  }
  summary.text = counted(summary.errors, "error", "errors") + ", " +
                 counted(summary.notes, "note", "notes") + " in " +
                 counted(summary.launches, "launch", "launches");
  return summary;
}

std::string junit_report(const std::string& json) {
  const Json report = Json::parse(json);
  std::map<std::string, std::vector<std::string>> texts;
  for (std::size_t kind = 0; kind <= static_cast<std::size_t>(FindingKind::invalid_call); ++kind) {
    texts[finding_name(static_cast<FindingKind>(kind))];
  }
  std::size_t failures = 0;
  for (const Json& finding : report.at("findings")) {
    if (finding.at("severity") != "error") continue;
    auto& list = texts[finding.at("kind").get<std::string>()];
    failures += list.empty();
    list.push_back(finding.at("text").get<std::string>());
  }
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"halfgrad-emulate\" tests=\"" +
      std::to_string(texts.size()) + "\" failures=\"" + std::to_string(failures) + "\">\n";
  for (const auto& [kind, list] : texts) {
    xml += " <testcase classname=\"halfgrad-emulate\" name=\"" + kind + "\">";
    if (!list.empty()) {
      std::string all;
      for (const std::string& text : list) all += text + "\n";
      xml += "<failure message=\"" + counted(list.size(), "finding", "findings") + "\">" +
             escaped(all) + "</failure>";
    }
    xml += "</testcase>\n";
  }
  return xml + "</testsuite>\n";
}

std::string trace_report(const std::string& json) {
  const Json report = Json::parse(json);
  Json events = Json::array();
  const auto name_of_thread = [&](int thread, const std::string& name) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", thread},
                      {"args", {{"name", name}}}});
  };
  name_of_thread(1, "predicted on " + report.at("gpu_name").get<std::string>());
  name_of_thread(2, "emulator on this machine");
  double end = 0;
  for (const Json& launch : report.at("launches")) {
    const Json& kernel = report.at("kernels").at(launch.at("kernel").get<std::size_t>());
    Json event = {{"name", kernel.at("name")}, {"ph", "X"}, {"pid", 1}};
    event["args"] = {
        {"grid", launch.at("grid")}, {"block", launch.at("block")}, {"total", launch.at("total")}};
    const double predicted = launch.at("predicted_seconds").get<double>() * 1e6;
    event["tid"] = 1;
    event["ts"] = end;
    event["dur"] = predicted;
    end += predicted;
    events.push_back(event);
    event["tid"] = 2;
    event["ts"] = launch.at("begin_seconds").get<double>() * 1e6;
    event["dur"] = launch.at("host_seconds").get<double>() * 1e6;
    events.push_back(event);
  }
  return Json{{"traceEvents", events}, {"displayTimeUnit", "ns"}}.dump() + "\n";
}

}  // namespace halfgrad::emulator
