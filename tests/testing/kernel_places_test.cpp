#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <halfgrad/testing/bad_elements_report.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/stored_case.h>

namespace halfgrad::testing {
namespace {

/// Negation that leaves columns 16 and above as they are.
void negates_the_first_tile(const std::vector<Array>& in, const Array& out) {
  const std::int64_t columns = out.size(1);
  for (std::int64_t i = 0; i < out.numel(); ++i) {
    const float x = in[0].data_as<float>()[i];
    out.data_as<float>()[i] = i % columns < 16 ? -x : 77;
  }
}

TEST(KernelReport, SaysWhereWrongElementsLie) {
  const KernelReport report = check_kernel(
      negates_the_first_tile, "neg",
      {.layouts = {Layout::contiguous}, .dims = {{3, 20, 1}}, .without = {Hostile::specials}});
  const std::string text = to_text(report);
  for (const char* part : {"element (0, 16) is 77, expected ", "columns 16 and above",
                           "\n      ................####\n", "in element (0, 16) of m = 3"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << '\n' << text;
  }
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["worst"]["index"], (std::vector<int>{0, 16}));
  const auto& places = json["findings"][0]["places"];
  EXPECT_EQ(places["pattern"], "columns 16 and above, the last 4 of 20");
  EXPECT_EQ(places["wrong"], 12);
  EXPECT_EQ(places["shape"], (std::vector<int>{3, 20}));
  EXPECT_EQ(places["counts"]["last_row"], 4);
  EXPECT_EQ(places["counts"]["last_column"], 3);
  EXPECT_EQ(places["counts"]["tiles"][0]["bad"], 1);
  EXPECT_EQ(places["counts"]["tiles"][0]["all"], 2);
  EXPECT_EQ(places["map"]["lines"][2], "................####");
  EXPECT_EQ(places["worst"].size(), 8u);
  EXPECT_EQ(places["worst"][0]["got"], 77);
}

TEST(KernelReport, PrintsNonZerosWithTheirIndices) {
  Values values{{2, 10}, std::vector<double>(20)};
  EXPECT_EQ(values_text(values), "all 0");
  values.data[13] = 0.5;
  EXPECT_EQ(values_text(values), "(1, 3) = 0.5, else 0");
  EXPECT_EQ(values_text({{3}, {1, 0, 2}}), "1, 0, 2");
  values.data.assign(20, 1);
  EXPECT_NE(values_text(values).find(", (1, 5) = 1, and 4 more that are not 0"), std::string::npos)
      << values_text(values);
}

TEST(KernelCheck, UnwrittenElementsHavePlacesToo) {
  const Kernel forgets = [](const std::vector<Array>& in, const Array& out) {
    for (std::int64_t i = 0; i < out.numel(); ++i) {
      if (i % out.size(1) != out.size(1) - 1) {
        out.data_as<float>()[i] = -in[0].data_as<float>()[i];
      }
    }
  };
  const KernelReport report = check_kernel(forgets, "neg", {.dims = {{3, 20, 1}}});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].message,
            "element (0, 19) is left as it was; 3 of 60 elements are: the last column");
}

TEST(KernelCheck, AnInterruptedCheckKeepsItsFindingsAndDoesNotPass) {
  int calls = 0;
  const auto check = [&](bool right) {
    calls = 0;
    const Kernel kernel = [&, right](const std::vector<Array>& in, const Array& out) {
      if (++calls == 10) throw CheckInterrupted();
      if (!right) return;
      for (std::int64_t i = 0; i < out.numel(); ++i) {
        out.data_as<float>()[i] = -in[0].data_as<float>()[i];
      }
    };
    return check_kernel(kernel, "neg");
  };
  const KernelReport right = check(true);
  EXPECT_EQ(calls, 10);
  EXPECT_TRUE(right.findings.empty());
  EXPECT_FALSE(right.passed());
  EXPECT_NE(to_text(right).find("NOT FINISHED"), std::string::npos) << to_text(right);
  EXPECT_NE(right.unfinished.find("interrupted after 3 of "), std::string::npos)
      << right.unfinished;
  const KernelReport wrong = check(false);
  ASSERT_FALSE(wrong.findings.empty());
  EXPECT_EQ(wrong.findings[0].fault, Fault::unwritten);
}

TEST(StoredCase, ListsTheCasesOfACheck) {
  for (const char* name : {"softmax", "mm", "add", "gather"}) {
    const KernelOp op = kernel_op(name);
    std::int64_t checked = 0;
    KernelCheckOptions options{.layouts = {Layout::contiguous}, .shrink = false};
    options.progress = [&](std::int64_t, std::int64_t total) { checked = total; };
    check_kernel([](const std::vector<Array>&, const Array&) {}, name, options);
    const std::vector<KernelCase> cases = listed_cases(op, {});
    EXPECT_EQ(static_cast<std::int64_t>(cases.size()), checked) << name;
    std::set<std::string> names;
    for (const KernelCase& next : cases) names.insert(file_name(next));
    EXPECT_EQ(names.size(), cases.size()) << name;
    for (const KernelCase& next : listed_cases(op, {.empty = false})) {
      EXPECT_GT(numel(op.output(next.dims)), 0) << name << to_string(next);
    }
  }
  EXPECT_EQ(file_name({.dims = {3, 5, 7}, .inputs = Hostile::inf_runs, .contract = {}}),
            "m3_n5_k7-runs_of__inf");
}

TEST(StoredCase, HasWhatIsExpectedOfEachOutput) {
  const KernelOp op = kernel_op("scaled_dot_product_attention");
  const KernelCase next = listed_cases(op, {.dtype = kFloat16, .dims = {{3, 5, 7}}}).front();
  const auto outputs = expected_outputs(op, next.dims, case_operands(op, next), next.contract);
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].expected.sizes(), (Shape{2, 3, 7}));
  EXPECT_EQ(outputs[0].dtype, kFloat16);
  EXPECT_EQ(outputs[1].allowed.sizes(), (Shape{2, 3}));
  EXPECT_EQ(outputs[1].dtype, kFloat32);
  EXPECT_EQ(output_suffix(op, 1), "_logsumexp");
}

TEST(StoredCase, NeedsAFailingCaseToSave) {
  EXPECT_THROW(save_case("/nowhere", KernelReport{}), std::invalid_argument);
  KernelReport report;
  report.op = "softmax";
  report.shrunk = ShrunkCase{};
  EXPECT_THROW(save_case("/nowhere", report, kernel_op("sum")), std::invalid_argument);
}

}  // namespace
}  // namespace halfgrad::testing
