#include <halfgrad/testing/impostors.h>

#include <string>

#include <gtest/gtest.h>

#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/testing/planted/elementwise.h>
#include <halfgrad/tests/testing/planted/sum.h>

namespace halfgrad::testing {
namespace {

constexpr ImpostorResult kNo = ImpostorResult::refused, kYes = ImpostorResult::accepted,
                         kNot = ImpostorResult::not_tried;

ImpostorResults results_of(const std::string& name, const std::vector<Values>& operands,
                           const std::vector<double>& last = {}, DType accumulate = kFloat32) {
  const KernelOp op = kernel_op(name);
  const ErrorBudget budget = error_budget(op, operands, accumulate, kFloat32);
  return judge_impostors(op, operands, budget, accumulate, kFloat32, {}, last);
}

TEST(Impostors, ACaseRefusesThoseOutsideItsBudget) {
  const std::vector<Values> rows{{{2, 3}, {1, 2, 3, 4, 5, 6.001}}};
  EXPECT_EQ(results_of("sum", rows, {1, 2}), (ImpostorResults{kNo, kNo, kNo, kNo, kNo}));
  EXPECT_EQ(results_of("sum", rows), (ImpostorResults{kNo, kNo, kNo, kNot, kNo}));
}

TEST(Impostors, WeakCasesAcceptThem) {
  EXPECT_EQ(results_of("sum", {{{2, 2}, {1, -1, 2, -2}}}, {0, 0})[0], kYes) << "sums of 0";
  EXPECT_EQ(results_of("sum", {{{2, 1}, {3, 4}}})[1], kYes) << "a sum of one element is a copy";
  EXPECT_EQ(results_of("sum", {{{2, 2}, {1, 3, 2, 2}}})[2], kYes) << "equal sums";
  EXPECT_EQ(results_of("sum", {{{2, 2}, {1, 3, 2, 2}}}, {4, 4})[3], kYes) << "the same result";
}

TEST(Impostors, LowPrecisionIsTriedWhereItIsWrong) {
  const std::vector<Values> coarse{{{1, 2}, {1, 2}}}, fine{{{1, 2}, {1, 0x1p-20}}};
  EXPECT_EQ(results_of("sum", coarse)[4], kNot) << "exact in 16 bits";
  EXPECT_EQ(results_of("sum", fine)[4], kNo);
  EXPECT_EQ(results_of("sum", fine, {}, kFloat16)[4], kNot) << "the contract allows it";
  EXPECT_EQ(results_of("relu", fine)[4], kNot) << "relu does not round";
}

TEST(Impostors, ACopyIsWhatTransposingAVectorDoes) {
  EXPECT_EQ(results_of("transpose", {{{1, 3}, {1, 2, 3}}})[1], kNot);
  EXPECT_EQ(results_of("transpose", {{{2, 2}, {1, 2, 3, 4}}})[1], kNo);
}

TEST(Impostors, AReportCountsThemAndWarnsIfNoCaseTells) {
  const Kernel sum = planted::on_dtype(planted::SumRows{});
  const KernelReport usual = check_kernel(sum, "sum");
  EXPECT_EQ(usual.warnings(), std::vector<std::string>{});
  EXPECT_GT(usual.impostors[0].accepted, 0) << "zeros, for rows of zeros";
  EXPECT_LT(usual.impostors[0].accepted, usual.impostors[0].tried / 4);
  EXPECT_EQ(usual.impostors[1].first.dims.k, 1) << "a sum of one element is a copy";

  const KernelReport empty_rows = check_kernel(sum, "sum", {.dims = {{3, 1, 0}}});
  ASSERT_EQ(empty_rows.warnings().size(), 3u) << to_text(empty_rows);
  const std::string cases = std::to_string(empty_rows.cases);
  EXPECT_EQ(empty_rows.warnings()[0],
            "no case tells the kernel from zeros: each of " + cases + " that tried accepts it");
  EXPECT_NE(to_text(empty_rows).find("warning: no case tells"), std::string::npos);
  EXPECT_NE(to_json(empty_rows)
                .find("\"zeros\": {\"tried\": " + cases + ", \"accepted\": " + cases +
                      ", \"first\": \"m = 3"),
            std::string::npos)
      << to_json(empty_rows);
}

}  // namespace
}  // namespace halfgrad::testing
