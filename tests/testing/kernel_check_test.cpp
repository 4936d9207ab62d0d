#include <halfgrad/testing/kernel_check.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <gtest/gtest.h>

#include <halfgrad/autograd/ops.h>
#include <halfgrad/core/allocator.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/shrink.h>
#include <halfgrad/tests/testing/planted/elementwise.h>
#include <halfgrad/tests/testing/planted/softmax.h>
#include <halfgrad/tests/testing/planted/sum.h>

namespace halfgrad::testing {
namespace {

using planted::Bug;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Computes |error| <= u_out |y| + gamma_K(u_acc) sum |a||b| + ulp_out(y) by hand.
TEST(ErrorBudget, MatrixProductFollowsTheFormula) {
  const std::vector<Values> operands{{{1, 3}, {0.1, -2, 3}}, {{3, 1}, {4, 5, 6}}};
  const ErrorBudget budget = error_budget(kernel_op("mm"), operands, kFloat32, kFloat16);
  ASSERT_DOUBLE_EQ(budget.expected.at(0), 8.4);
  const double accumulated = 3 * 0x1p-24 / (1 - 3 * 0x1p-24) * (0.4 + 10 + 18);
  const double by_hand = accumulated + 0x1p-11 * (8.4 + accumulated) + 0x1p-7;
  EXPECT_NEAR(budget.allowed[0], by_hand, 1e-12);
}

TEST(ErrorBudget, SumsGrowWithTheirLength) {
  const auto allowed = [](std::int64_t k) {
    const std::vector<double> x(static_cast<std::size_t>(k), 4 / 3.0);
    return error_budget(kernel_op("sum"), {{{1, k}, x}}, kFloat32, kFloat32).allowed[0];
  };
  EXPECT_GT(allowed(1024), 1000 * 1024 * 0x1p-24);
  EXPECT_LT(allowed(1), 2 * 0x1p-23) << "one element needs no addition";
}

struct Judgement {
  double got, expected, allowed, used;
};

TEST(ErrorBudget, UsedPart) {
  const double nan = std::nan("");
  const Judgement judgements[] = {
      {1, 1, 0, 0},
      {1.5, 1, 1, 0.5},
      {1, 2, 0, kInfinity},
      {nan, nan, 0, 0},
      {nan, 1, 1, kInfinity},
      {1, nan, 0, kInfinity},
      {7, nan, kInfinity, 0},
      {kInfinity, 65510, 80, 0},  // 16 beyond what storing needs
      {kInfinity, 65510, 64, kInfinity},
      {kInfinity, 65520, 64, 0},
      {65504, 1e6, 32, (1e6 - 65504) / 32},
      {-kInfinity, kInfinity, 0, kInfinity},
  };
  for (const Judgement& j : judgements) {
    EXPECT_EQ(budget_used(j.got, j.expected, j.allowed, kFloat16), j.used)
        << j.got << ' ' << j.expected;
  }
}

TEST(HostileInputs, MatchTheirNames) {
  for (const DType dtype : {kFloat32, kFloat16, kBFloat16}) {
    const OperandSpec spec{.sizes = {4, 32}};
    const double min_normal = std::ldexp(1, number_format_of(dtype).min_exponent());
    const auto all = [&](Hostile kind, auto test) {
      const Values values = HostileOperand(spec, dtype, {3, 0}).values(kind);
      return std::all_of(values.data.begin(), values.data.end(), test);
    };
    EXPECT_TRUE(all(Hostile::subnormal, [=](double x) { return std::fabs(x) < min_normal; }));
    EXPECT_TRUE(all(Hostile::near_max, [=](double x) {
      return std::fabs(x) >= limits_of(dtype).largest / 2.01 && std::isfinite(x);
    }));
    EXPECT_TRUE(all(Hostile::signed_zeros, [](double x) { return x == 0; }));
    EXPECT_TRUE(all(Hostile::moderate,
                    [](double x) { return std::fabs(x) >= 0x1p-8 && std::fabs(x) <= 128; }));
    const HostileOperand operand(spec, dtype, {3, 0});
    const Values one_hot = operand.values(Hostile::one_hot);
    EXPECT_EQ(std::count(one_hot.data.begin(), one_hot.data.end(), 1), 4);
    EXPECT_TRUE(std::isnan(operand.values(Hostile::nan_last).data[31]));
  }
}

TEST(HostileInputs, BooleansHaveOneElementThatDiffers) {
  const OperandSpec spec{.sizes = {2, 5}, .kind = OperandSpec::Kind::boolean};
  const HostileOperand operand(spec, kFloat32, {});
  const auto values = [&](Hostile kind) { return operand.values(kind).data; };
  using Doubles = std::vector<double>;
  EXPECT_EQ(values(Hostile::positive), (Doubles{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(values(Hostile::inf_last), (Doubles{1, 1, 1, 1, 0, 1, 1, 1, 1, 0}));
  EXPECT_EQ(values(Hostile::nan_first), (Doubles{1, 0, 0, 0, 0, 1, 0, 0, 0, 0}));
}

TEST(GuardedArray, LocatesWritesToItsGuards) {
  for (const Layout layout : {Layout::contiguous, Layout::padded_rows, Layout::every_second}) {
    GuardedArray array({2, 3}, kFloat32, layout, 0xa5);
    array.set({1, 2, 3, 4, 5, 6});
    EXPECT_EQ(array.values(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_FALSE(array.touched_guard().has_value());
    array.view().data_as<float>()[-1] = 0;
    EXPECT_EQ(array.touched_guard(), -1) << name(layout);
  }
  GuardedArray padded({2, 3}, kFloat32, Layout::padded_rows, 0xa5);
  padded.view().data_as<float>()[3] = 0;
  EXPECT_EQ(padded.touched_guard(), 3) << "between the rows";
}

/// Sums only the first four elements of a row.
struct SumOfFour {
  template <class T>
  void run(const std::vector<Array>& in, const Array& out) const {
    const std::int64_t k = in[0].size(1);
    for (std::int64_t row = 0; row < in[0].size(0); ++row) {
      float sum = 0;
      for (std::int64_t i = 0; i < k; ++i) {
        if (i < 4) sum += planted::widened(in[0].data_as<T>()[row * k + i]);
      }
      out.data_as<T>()[row] = T(sum);
    }
  }
};

TEST(KernelCheck, ShrinksAFailure) {
  KernelCheckOptions options{};
  options.dims = {{3, 1, 7}};
  const KernelReport report = check_kernel(planted::on_dtype(SumOfFour{}), "sum", options);
  ASSERT_TRUE(report.shrunk.has_value()) << to_text(report);
  EXPECT_EQ(report.breaks_at_k(), 5);
  EXPECT_EQ(report.shrunk->dims.m, 1);
  const std::vector<double>& x = report.shrunk->operands[0].data;
  EXPECT_EQ(x, (std::vector<double>{0, 0, 0, 0, 1})) << to_text(report);
}

// Without the limit inside the loops, the copies of 66001 elements for each of them took minutes.
TEST(KernelCheck, ShrinkingAWideCaseEndsInTime) {
  using Clock = std::chrono::steady_clock;
  const KernelOp op = kernel_op("layer_norm");
  const Dims dims{1, 1, 66001};
  KernelCase wide;
  wide.dims = dims;
  const std::vector<Values> operands = case_operands(op, wide);
  const RunCase run = [](const Dims&, const std::vector<Values>& in) {
    CaseResult result;
    if (in[1].data.size() > 65536) result.fault = Fault::wrong_value;
    return result;
  };
  const auto begin = Clock::now();
  const auto shrunk = shrink(op, dims, operands, run, 0.1);
  EXPECT_LT(Clock::now() - begin, std::chrono::seconds(10));
  ASSERT_TRUE(shrunk && shrunk->dims.k > 65536);
}

TEST(KernelCheck, AThrowingKernelIsAFinding) {
  const Kernel kernel = [](const std::vector<Array>&, const Array&) {
    throw std::runtime_error("no such tile");
  };
  const KernelReport report = check_kernel(kernel, "sum");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].fault, Fault::threw);
  EXPECT_EQ(report.findings[0].message, "no such tile");
  EXPECT_THROW(check_kernel(kernel, "no such op"), std::invalid_argument);
}

TEST(KernelCheck, AFailedAllocationIsNoFaultOfTheKernel) {
  for (int n = 1; n <= 100; ++n) {
    allocator::fail_allocation(kCPU, n);
    EXPECT_THROW(check_kernel(planted::on_dtype(planted::Add{}), "add"), std::runtime_error) << n;
  }
}

// Kernels run in place only if the options ask for it and the op allows it.
TEST(KernelCheck, WorksInPlaceWhereAllowed) {
  KernelCheckOptions options{};
  const Kernel softmax = planted::on_dtype(planted::Softmax{Bug::softmax_scratch_in_output});
  EXPECT_TRUE(check_kernel(softmax, "softmax", options).passed());
  options.in_place = true;
  EXPECT_FALSE(check_kernel(softmax, "softmax", options).passed());
  EXPECT_TRUE(check_kernel(planted::on_dtype(planted::Add{}), "add", options).passed());
  options.output = kFloat32;
  EXPECT_TRUE(check_kernel(planted::on_dtype(planted::Add{}), "add", options).passed());
  options.output = kFloat16;  // one buffer cannot have both dtypes
  EXPECT_THROW(check_kernel(softmax, "softmax", options), std::invalid_argument);
  options.output = {};
  for (const char* op : {"sum", "eq", "where", "mm"}) {
    EXPECT_THROW(check_kernel(softmax, op, options), std::invalid_argument) << op;
  }
}

// Compares with the same formula in fp16, and with the budget of a kernel that may accumulate in
// fp16.
TEST(KernelCheck, JudgesAccumulationInHalf) {
  const Kernel wide = planted::on_dtype(planted::SumRows{});
  const Kernel narrow = planted::on_dtype(planted::SumRows{Bug::sum_accumulates_in_storage});
  KernelCheckOptions options{.dtype = kFloat16};
  EXPECT_LT(check_kernel(wide, "sum", options).use.relative_to_low_precision(), 0.5);
  EXPECT_FALSE(check_kernel(narrow, "sum", options).passed());
  options.accumulate = kFloat16;
  const KernelReport report = check_kernel(narrow, "sum", options);
  EXPECT_TRUE(report.passed()) << to_text(report);
}

// Below the least dims the references would read out of bounds.
TEST(KernelCheck, RefusesOptionsItCannotRun) {
  int runs = 0;
  const Kernel kernel = [&](const std::vector<Array>&, const Array&) { ++runs; };
  const auto refused = [&](const char* op, const KernelCheckOptions& options) {
    EXPECT_THROW(check_kernel(kernel, op, options), std::invalid_argument) << op;
  };
  for (const char* op : {"amax", "argmin", "cross_entropy", "gather", "embedding", "logsumexp"}) {
    refused(op, {.dims = {{2, 2, 2}, {3, 1, 0}}});
  }
  refused("batch_norm", {.dims = {{1, 3, 5}}});
  for (const Dims& dims : {Dims{-3, 1, 5}, Dims{1, -3, 5}, Dims{1, 1, -5}}) {
    refused("mm", {.dims = {dims}});
  }
  constexpr std::int64_t kHuge = std::int64_t{1} << 40, kHugest = 0x7fff'ffff'ffff'ffff;
  for (const char* op : {"sum", "add", "mm", "outer", "cat", "stack"}) {
    refused(op, {.dims = {{kHuge, kHuge, kHuge}}});
    refused(op, {.dims = {{kHugest, kHugest, kHugest}}});
  }
  refused("outer", {.dims = {{1 << 24, 1 << 24, 1}}});  // small operands, but not the result
  refused("sum", {.layouts = {}});
  refused("softmax", {.layouts = {}, .in_place = true});
  refused("sum", {.device = Device(kCUDA, cuda::device_count())});
  EXPECT_EQ(runs, 0);
}

TEST(KernelCheck, OneRoundingToANarrowerOutputIsCorrect) {
  const Kernel relu = [](const std::vector<Array>& in, const Array& out) {
    Tensor(out).copy_(halfgrad::relu(Tensor(in[0])));
  };
  const Kernel transpose = [](const std::vector<Array>& in, const Array& out) {
    Tensor(out).copy_(Tensor(in[0]).t());
  };
  const Kernel off_by_an_ulp = [](const std::vector<Array>& in, const Array& out) {
    Tensor(out).copy_(halfgrad::relu(Tensor(in[0])) * (1 + 0x1p-10));
  };
  for (const DType output : {kFloat16, kBFloat16}) {
    const KernelCheckOptions options{.output = output, .shrink = false};
    const KernelReport report = check_kernel(relu, "relu", options);
    EXPECT_TRUE(report.passed()) << to_text(report);
    EXPECT_TRUE(std::isnan(report.use.relative_to_low_precision())) << "both are exact";
    EXPECT_TRUE(check_kernel(transpose, "transpose", options).passed());
    EXPECT_FALSE(check_kernel(off_by_an_ulp, "relu", options).passed());
  }
}

// A check that judged no element must not pass.
TEST(KernelCheck, WithoutAJudgedElementDoesNotPass) {
  const Kernel nothing = [](const std::vector<Array>&, const Array&) {};
  const Kernel sum = planted::on_dtype(planted::SumRows{});
  const KernelReport empty = check_kernel(nothing, "sum", {.dims = {{0, 0, 0}}});
  EXPECT_FALSE(empty.checked());
  EXPECT_FALSE(empty.passed());
  EXPECT_TRUE(to_text(empty).starts_with("sum, float32 -> float32, accumulated in float32: NOT"))
      << to_text(empty);
  EXPECT_NE(to_json(empty).find("\"passed\": false, \"checked\": false"), std::string::npos);
  EXPECT_NE(to_junit({empty}).find("failures=\"0\" errors=\"1\""), std::string::npos);
  EXPECT_NE(to_junit({empty}).find("<error type=\"not checked\""), std::string::npos);

  const KernelReport unjudged = check_kernel(  // K u > 1: sums with roundings have no bound
      sum, "sum",
      {.accumulate = kBFloat16,
       .dims = {{1, 1, 4099}},
       .without = {Hostile::inf_first, Hostile::inf_middle, Hostile::inf_last, Hostile::nan_first,
                   Hostile::nan_middle, Hostile::nan_last, Hostile::specials, Hostile::special_rows,
                   Hostile::special_columns, Hostile::same_special, Hostile::inf_runs,
                   Hostile::inf_by_zero, Hostile::zero_by_inf, Hostile::one_hot,
                   Hostile::signed_zeros}});
  EXPECT_TRUE(unjudged.use.elements > 0 && !unjudged.passed()) << to_text(unjudged);
  EXPECT_FALSE(unjudged.checked());
  EXPECT_TRUE(check_kernel(sum, "sum", {.dims = {{3, 1, 0}}}).passed()) << "three zeros";
  const KernelReport unwritten = check_kernel(nothing, "sum", {.dims = {{3, 1, 0}}});
  EXPECT_TRUE(unwritten.checked() && !unwritten.passed());
}

TEST(KernelReport, WritesJsonAndJUnit) {
  const KernelReport good = check_kernel(planted::on_dtype(planted::Add{}), "add");
  const KernelReport bad =
      check_kernel(planted::on_dtype(planted::Add{Bug::add_writes_one_beyond}), "add");
  const auto contains = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(contains(to_json(good), "\"passed\": true"));
  EXPECT_TRUE(contains(to_json(bad), "\"fault\": \"out of bounds\"")) << to_json(bad);
  const std::string junit = to_junit({good, bad});
  EXPECT_TRUE(contains(junit, "tests=\"2\" failures=\"1\"")) << junit;
  EXPECT_TRUE(contains(junit, "<failure type=\"out of bounds\"")) << junit;
}

}  // namespace
}  // namespace halfgrad::testing
