#include <halfgrad/report/write_files.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <halfgrad/files/replace_file.h>
#include <halfgrad/report/run_report.h>
#include <halfgrad/report/write_csv.h>
#include <halfgrad/tests/folder.h>
#include <halfgrad/tests/message_of.h>

namespace halfgrad::tests {
namespace {

namespace fs = std::filesystem;
using report::PageRecord;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::ptrdiff_t lines_of(const std::string& text) {
  return std::count(text.begin(), text.end(), '\n');
}

TEST(WriteFiles, RefusesAPageThatCannotBeWrittenBeforeTheTraining) {
  const Folder folder;
  const auto refusal = [&](const fs::path& file) {
    return message_of<files::WriteError>([&] { RunReport report(file, RunOptions{}); });
  };
  EXPECT_NE(refusal(folder / "missing/run.html").find("No such file or directory"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "").find("got the folder"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder / ""));
}

TEST(WriteFiles, AnOldReportStaysUntilTheNewOneIsWritten) {
  const Folder folder;
  std::ofstream(folder / "run.html") << "old";
  RunReport report(folder / "run.html", RunOptions{});
  report.step(1.0);
  EXPECT_EQ(text_of(folder / "run.html"), "old");
  report.finish();
  EXPECT_TRUE(text_of(folder / "run.html").starts_with("<!DOCTYPE html>"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / ""), fs::directory_iterator()), 7);
}

TEST(WriteFiles, AFullDiskIsAnError) {
  RunReport report("/dev/full", RunOptions{});
  report.step(1.0);
  EXPECT_NE(message_of<files::WriteError>([&] { report.finish(); }).find("No space left"),
            std::string::npos);
}

TEST(WriteFiles, APageHoldsEverythingAndNamesNoOtherAddress) {
  const Folder folder;
  RunReport report(folder / "run.html", {.name = "</script>"});
  report.step(1.0);
  std::string page = report.html();
  const std::string known = "http://www.w3.org/2000/svg";  // the name of a namespace
  page.erase(page.find(known), known.size());
  for (const char* sign : {"http:", "https:", "src=", "@import", "url("}) {
    EXPECT_EQ(page.find(sign), std::string::npos) << sign;
  }
  const std::string start = R"(<script type="application/json" id="data">)";
  const std::size_t from = page.find(start) + start.size();
  const std::string data = page.substr(from, page.find("</script>", from) - from);
  EXPECT_EQ(nlohmann::json::parse(data)["runs"][0]["name"], "</script>");
}

TEST(WriteFiles, TablesHaveALineForEachRow) {
  PageRecord page;
  for (const char* name : {"plain", "with \"quotes\", and a comma"}) {
    report::RunRecord& run = page.runs.emplace_back();
    run.name = name;
    run.steps.add({.step = 0, .steps = 1, .loss = 0.5, .score = NAN});
    report::Exponents sample{
        .step = 0, .scale = 4, .places = {{.name = "w"}}, .recommendation = {}};
    sample.places[0].unscaled.add(Array::full({3}, 1, kFloat, kCPU));
    sample.places[0].scaled.add(Array::full({3}, 4, kFloat, kCPU));
    run.exponents.add(sample);
    run.ops = {.step = 0,
               .rows = {{.op = "mul", .precision = Precision::any, .run_dtype = kHalf}},
               .promoted = {}};
    amp::OpTime& row = run.costs.rows.emplace_back();
    row.op = "mul";
    row.self_seconds = 0.25;
  }
  const std::string runs = runs_csv(page);
  EXPECT_NE(runs.find("\n1,,\"with \"\"quotes\"\", and a comma\","), std::string::npos) << runs;
  EXPECT_EQ(lines_of(runs), 3);
  EXPECT_NE(steps_csv(page).find("\n0,0,1,0,0.5,,1,0,0\n"), std::string::npos) << steps_csv(page);
  EXPECT_EQ(lines_of(steps_csv(page)), 3);
  const std::string exponents = exponents_csv(page);
  EXPECT_NE(exponents.find("\n1,0,w,float32,0,3,0\n1,0,w,float32,2,0,3\n"), std::string::npos)
      << exponents;
  EXPECT_EQ(lines_of(ops_csv(page)), 3);
  EXPECT_NE(costs_csv(page).find(",forward,0,0.25,"), std::string::npos) << costs_csv(page);
}

}  // namespace
}  // namespace halfgrad::tests
