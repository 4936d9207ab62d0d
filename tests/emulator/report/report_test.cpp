#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include <halfgrad/emulator/report/gpu_model.h>
#include <halfgrad/emulator/report/prediction.h>
#include <halfgrad/emulator/report/process_report.h>
#include <halfgrad/emulator/report/run_report.h>
#include <halfgrad/tests/emulator/simt/small_gpu.h>

namespace halfgrad::emulator {
namespace {

/// A process's report with one kernel, two launches, an error and a note.
std::string process_report() {
  const nlohmann::json total = {{"executed", 4000},    {"active_lanes", 120000},
                                {"sectors", 64000},    {"sectors_needed", 8000},
                                {"bank_conflicts", 0}, {"bytes_loaded", 128},
                                {"bytes_stored", 64},  {"flops", 0}};
  nlohmann::json line = total;
  line["file"] = "a<b>.cu";
  line["line"] = 7;
  const nlohmann::json launch = {{"kernel", 0},
                                 {"grid", {10, 1, 1}},
                                 {"block", {128, 1, 1}},
                                 {"dynamic_shared_bytes", 0},
                                 {"begin_seconds", 0.5},
                                 {"host_seconds", 0.25},
                                 {"warps", 40},
                                 {"total", total},
                                 {"classes", {{"f32", 1000}, {"integer", 3000}}}};
  const auto finding = [](const char* kind, const char* severity) {
    return nlohmann::json{{"kind", kind}, {"severity", severity}, {"text", "x[i] & \"y\" > z"}};
  };
  return nlohmann::json{{"gpu", "a100"},
                        {"findings", {finding("race", "error"), finding("leak", "note")}},
                        {"kernels",
                         {{{"name", "scale<float>(float*)"},
                           {"registers_estimated", 32},
                           {"shared_bytes", 1024},
                           {"launches", 2},
                           {"lines", {line}}}}},
                        {"launches", {launch, launch}}}
      .dump();
}

TEST(Report, SummaryCountsErrorsAndNotes) {
  const RunSummary summary = summarise(process_report());
  EXPECT_EQ(summary.text, "1 error, 1 note in 2 launches");
  EXPECT_EQ(summary.errors, 1u);
}

TEST(Report, PredictionsAreNamedPredicted) {
  const auto report = nlohmann::json::parse(with_predictions(process_report()));
  const double seconds = report["launches"][0]["predicted_seconds"];
  EXPECT_NEAR(seconds, 2.5e-6 + 64000 * 32 / 2039e9, 1e-8);
  EXPECT_EQ(report["launches"][0]["predicted_bound_by"], "launch");
  EXPECT_NEAR(report["kernels"][0]["predicted_seconds"].get<double>(), 2 * seconds, 1e-12);
}

TEST(Report, ListsTheFirstLaunchesOfAKernelAndCountsAll) {
  SmallGpu gpu;
  const std::string text = kernel("ret;");
  const LaunchCounters counters = gpu.launch(text, {1}, {32});
  LaunchLog log;
  const LaunchRequest request{*gpu.module, *gpu.module->kernel("k"), {1}, {32}};
  for (int i = 0; i < 2500; ++i) log.add(request, counters);
  const std::string json = with_predictions(report_json({}, log, gpu.settings));
  const auto report = nlohmann::json::parse(json);
  EXPECT_EQ(report["launches"].size(), 2000u);
  EXPECT_EQ(report["kernels"][0]["launches"], 2500);
  const double one = report["launches"][0]["predicted_seconds"];
  EXPECT_NEAR(report["kernels"][0]["predicted_seconds"].get<double>(), 2500 * one, 1e-9);
  EXPECT_EQ(summarise(json).text, "0 errors, 0 notes in 2500 launches");
}

TEST(Report, ListsMutantsOfExecutedLines) {
  SmallGpu gpu;
  const std::string text = kernel(
      ".loc 1 31 3\nsetp.ge.u32 %p1, %r1, 32;\n@!%p1 bra done;\n"  // no thread goes on
      ".loc 1 32 3\nbar.sync 0;\ndone:\nret;",
      ".file 1 \"/src/reduce.cu\"\n");
  const LaunchCounters counters = gpu.launch(text, {1}, {32});
  LaunchLog log;
  const LaunchRequest request{*gpu.module, *gpu.module->kernel("k"), {1}, {32}};
  for (int i = 0; i < 2; ++i) log.add(request, counters);
  const auto report = nlohmann::json::parse(report_json({}, log, gpu.settings));
  EXPECT_EQ(report["kernels"][0]["mutants"].dump(), R"(["bound:/src/reduce.cu:31"])");
}

TEST(Report, HtmlEscapesAndIsSelfContained) {
  const std::string html = html_report(with_predictions(process_report()), "./a <1>");
  EXPECT_NE(html.find("./a &lt;1&gt;"), std::string::npos);
  EXPECT_NE(html.find("a&lt;b&gt;.cu:7"), std::string::npos);
  EXPECT_NE(html.find("scale&lt;float&gt;(float*)"), std::string::npos);
  EXPECT_NE(html.find("predicted"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
}

/// The page of process_report() after a change.
template <class F>
std::string page_after(const F& change) {
  auto report = nlohmann::json::parse(process_report());
  change(report);
  return html_report(with_predictions(report.dump()), "./a");
}

TEST(Report, HtmlShowsTheSourceOfFindingsAndLines) {
  const auto file = std::filesystem::temp_directory_path() / "halfgrad_report_test.cu";
  std::ofstream(file) << "1\n2\n3\n4\n5\n6\n  y[i] = x[i] < 1;\n";
  const std::string html = page_after([&](nlohmann::json& report) {
    report["kernels"][0]["lines"][0]["file"] = file.string();
    report["findings"][0]["file"] = file.string();
    report["findings"][0]["line"] = 7;
    report["findings"][0]["text"] = "error: race: a store\n  at " + file.string() + ":7\n";
  });
  std::filesystem::remove(file);
  EXPECT_NE(html.find("<pre class=\"source\">7  y[i] = x[i] &lt; 1;</pre>"), std::string::npos);
  EXPECT_NE(html.find("<code>y[i] = x[i] &lt; 1;</code>"), std::string::npos);
  EXPECT_NE(html.find("at halfgrad_report_test.cu:7"), std::string::npos);
  EXPECT_EQ(html.find(file.parent_path().string() + "/"), std::string::npos);
}

TEST(Report, HtmlShowsErrorsFirstThenLinesThenPredictions) {
  const std::string html = page_after([](nlohmann::json& report) {
    std::swap(report["findings"][0], report["findings"][1]);  // the note before the error
  });
  const std::size_t error = html.find("class=\"finding error\""),
                    note = html.find("class=\"finding note\""), line = html.find("Source lines"),
                    predicted = html.find("<th class=\"predicted\">");
  EXPECT_LT(error, note);
  EXPECT_LT(note, line);
  EXPECT_LT(line, predicted);
  EXPECT_NE(predicted, std::string::npos);
}

TEST(Report, HtmlMarksUncoalescedLines) {
  EXPECT_NE(page_after([](nlohmann::json&) {}).find("<td class=\"bad\">64,000</td><td>8,000</td>"),
            std::string::npos);
}

TEST(Report, HtmlSaysIfNoLaunchWasCounted) {
  const std::string html = page_after([](nlohmann::json& report) {
    report["kernels"] = nlohmann::json::array();
    report["launches"] = nlohmann::json::array();
  });
  EXPECT_NE(html.find("No kernel was launched"), std::string::npos);
  EXPECT_EQ(html.find("<table>"), std::string::npos);
}

TEST(Report, JunitFailsForErrorsOnly) {
  const std::string xml = junit_report(process_report());
  EXPECT_NE(xml.find("failures=\"1\""), std::string::npos);
  EXPECT_NE(xml.find("x[i] &amp; &quot;y&quot; &gt; z"), std::string::npos);
  EXPECT_NE(xml.find("name=\"leak\"></testcase>"), std::string::npos);
}

TEST(Report, TraceHasEveryLaunchTwice) {
  const auto trace = nlohmann::json::parse(trace_report(with_predictions(process_report())));
  int launches = 0;
  for (const auto& event : trace["traceEvents"]) launches += event["ph"] == "X";
  EXPECT_EQ(launches, 4);
}

TEST(Prediction, OccupancyIsLimitedByTheScarcestResource) {
  const GpuModel gpu = gpu_model("a100");
  LaunchRecord launch;
  launch.grid = {1000};
  launch.block = {256};
  launch.warps = 8000;
  KernelRecord kernel;
  kernel.registers = 32;
  EXPECT_DOUBLE_EQ(predict(gpu, launch, kernel).occupancy, 1.0);
  kernel.registers = 128;
  EXPECT_DOUBLE_EQ(predict(gpu, launch, kernel).occupancy, 0.25);
  kernel.registers = 32;
  kernel.shared_bytes = 82 * 1024;
  EXPECT_EQ(predict(gpu, launch, kernel).blocks_per_multiprocessor, 2u);
}

TEST(Prediction, EveryGpuHasFigures) {
  EXPECT_EQ(gpu_names(), (std::vector<std::string>{"a100", "h100", "rtx4090"}));
  for (const std::string& name : gpu_names()) {
    const GpuModel gpu = gpu_model(name);
    EXPECT_FALSE(gpu.source.empty());
    // Peak f32: 128 lanes of a multiprocessor (64 of an A100), each a fused multiply-add a cycle.
    const double lanes = name == "a100" ? 64 : 128;
    EXPECT_NEAR(gpu.f32_flops / (gpu.multiprocessors * lanes * 2 * gpu.clock_hz), 1, 0.01) << name;
  }
  EXPECT_THROW(gpu_model("b200"), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::emulator
