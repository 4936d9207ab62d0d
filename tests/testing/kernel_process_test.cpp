#include <halfgrad/testing/kernel_process.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include <sched.h>

#include <gtest/gtest.h>

#include <halfgrad/testing/hostile_inputs.h>
#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/testing/kernel_server.h>
#include <halfgrad/tests/testing/planted/classes.h>

namespace halfgrad::testing {
namespace {

using planted::Call;
using planted::Index;

KernelReport in_own_process(const Kernel& kernel, KernelCheckOptions options = {}) {
  options.own_process = true;
  options.timeout = 1;
  return check_kernel(kernel, "sum", options);
}

TEST(KernelProcess, ReportsTheCaseInWhichAKernelEndedAndRunsTheOthers) {
  const KernelReport report = in_own_process(planted::sum_but(37, [] { ::exit(0); }));
  ASSERT_EQ(report.findings.size(), 1u) << to_text(report);
  EXPECT_EQ(report.findings[0].fault, Fault::crashed);
  EXPECT_EQ(report.findings[0].message, "the kernel called exit(0)");
  EXPECT_EQ(report.findings[0].first.dims, (Dims{3, 1, 37}));
  EXPECT_TRUE(report.unfinished.empty()) << to_text(report);
  EXPECT_GT(report.cases, 200);
}

TEST(KernelProcess, EndsTheCheckAtAHangAndKeepsWhatWasFound) {
  const KernelReport report = in_own_process(planted::sum_but(257, planted::forever));
  ASSERT_EQ(report.findings.size(), 1u) << to_text(report);
  EXPECT_EQ(report.findings[0].fault, Fault::hung);
  EXPECT_GT(report.use.elements, 100);
  EXPECT_TRUE(report.unfinished.starts_with("the kernel hung in case ")) << report.unfinished;
  EXPECT_NE(to_text(report).find("later cases did not run"), std::string::npos);
}

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Four threads compete with the kernel for one processor, so that 0.3 s of work take more than 1 s.
TEST(KernelProcess, TimeWithoutAProcessorDoesNotCount) {
  std::atomic<bool> ends{false};
  std::vector<std::thread> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back([&] {
      planted::stay_on_one_processor();
      while (!ends.load(std::memory_order_relaxed)) continue;
    });
  }
  const Kernel busy = [right = planted::right_sum(), first = true](const std::vector<Array>& in,
                                                                   const Array& out) mutable {
    if (first) {
      cpu_set_t before;
      ::sched_getaffinity(0, sizeof before, &before);
      planted::stay_on_one_processor();
      while (processor_seconds() < 0.3) continue;
      ::sched_setaffinity(0, sizeof before, &before);
    }
    first = false;
    right(in, out);
  };
  const KernelReport report = in_own_process(busy, {.dims = {{3, 1, 7}}, .repeat = 1});
  ends = true;
  for (std::thread& other : others) other.join();
  EXPECT_TRUE(report.passed()) << to_text(report);
}

TEST(KernelProcess, ThreadsThatNeverEndAreAHang) {
  const Kernel kernel = planted::called([](const Call&) {
    std::vector<std::thread> all;
    for (int i = 0; i < 8; ++i) {
      all.emplace_back([] {
        for (volatile bool ends = false; !ends;) continue;
      });
    }
    for (std::thread& each : all) each.join();
  });
  const KernelReport report = in_own_process(kernel);
  ASSERT_EQ(report.findings.size(), 1u) << to_text(report);
  EXPECT_EQ(report.findings[0].fault, Fault::hung);
}

TEST(KernelProcess, NamesTheElementThatWasReadBeyondAnInput) {
  const KernelReport report = in_own_process(planted::sum_touching(1), {.shrink = false});
  ASSERT_EQ(report.findings.size(), 1u) << to_text(report);
  EXPECT_EQ(report.findings[0].fault, Fault::out_of_bounds);
  EXPECT_EQ(report.findings[0].message, "read at element 1 of input 0, which has shape [1, 1]");
  EXPECT_EQ(report.findings[0].first.contract.layout, Layout::page_end);
}

TEST(KernelProcess, AFlakyKernelIsReported) {
  for (int run = 0; run < 20; ++run) {
    const KernelReport report =
        in_own_process(planted::sometimes_wrong(planted::right_sum(), 3), {.dims = {{3, 1, 7}}});
    EXPECT_FALSE(report.passed());
    EXPECT_TRUE(report.shrunk || !report.repeated.empty()) << to_text(report);
  }
}

TEST(KernelProcess, RepeatsAsOftenAsAsked) {
  const KernelCheckOptions once{.dims = {{3, 1, 7}}, .repeat = 1};
  const KernelCheckOptions often{.dims = {{3, 1, 7}}, .repeat = 3000};
  const Kernel rare = planted::wrong_every(planted::right_sum(), 1000);
  EXPECT_TRUE(in_own_process(rare, once).passed());
  const KernelReport report = in_own_process(rare, often);
  ASSERT_FALSE(report.passed());
  EXPECT_NE(report.findings[0].message.find(" of 3000 further runs"), std::string::npos)
      << report.findings[0].message;
}

// On cpu:1, a second device in host memory, arrays are copied as they are to a GPU.
TEST(KernelProcess, CopiesArraysWithTheirGuardsToAnotherDevice) {
  const auto checked = [](const char* op, const Kernel& kernel) {
    const auto start = [&](int socket, int memory) {
      serve_kernel(
          socket, memory, [&] { return kernel; }, Device(kCPU, 1));
    };
    return check_kernel(kernel_in_process(StartKernel(start), 5), op, {.shrink = false});
  };
  const KernelReport right = checked("sum", planted::right_sum());
  EXPECT_TRUE(right.passed()) << to_text(right);
  const KernelReport stray = checked("add", planted::add_writing(0, false));
  ASSERT_FALSE(stray.findings.empty());
  EXPECT_EQ(stray.findings[0].fault, Fault::out_of_bounds) << to_text(stray);
}

TEST(KernelProcess, SaysWhyAKernelCannotBeMade) {
  const Kernel kernel = kernel_in_process([](int, int) { ::_exit(5); }, 1.0);
  EXPECT_THROW(check_kernel(kernel, "sum"), KernelUnavailable);
}

// As halfgrad-check --values judges a file: one case, without a kernel.
TEST(Bias, IsJudgedForStoredOutputsToo) {
  const HostileOperand draw({.sizes = {1, 600}}, kBFloat16, {1, 0});
  const std::vector<Values> operands{draw.values(Hostile::normal), draw.values(Hostile::positive)};
  std::vector<double> nearest, cut;
  for (std::size_t i = 0; i < 600; ++i) {
    const auto product = static_cast<float>(operands[0].data[i] * operands[1].data[i]);
    nearest.push_back(rounded_to(kBFloat16, product));
    cut.push_back(planted::cut_to_bfloat16(product, 0));
  }
  const KernelContract contract{.dtype = kBFloat16, .output = kBFloat16};
  const auto passes = [&](const std::vector<double>& output) {
    KernelReport report;
    report.add(judge_output(kernel_op("mul"), operands, {{1, 600}, output}, contract),
               {.dims = {1, 600, 1}, .contract = contract});
    report.judge_bias();
    return report.passed();
  };
  EXPECT_TRUE(passes(nearest));
  EXPECT_FALSE(passes(cut));
}

TEST(MovedBits, ASignOfZeroAndAPayloadMustStay) {
  const Kernel through_float = planted::called([](const Call& c) {
    for (Index at = 0; at < c.n(); ++at) c.y(at % c.k * c.m + at / c.k, c.x(at) + 0.0f);
  });
  const KernelReport report = check_kernel(through_float, "transpose", {.shrink = false});
  ASSERT_FALSE(report.findings.empty());
  EXPECT_NE(report.findings[0].message.find("the sign of a zero or the payload of a NaN"),
            std::string::npos)
      << report.findings[0].message;
}

TEST(GuardedArray, ArraysOfACaseHaveOffsetsOfTheirOwn) {
  for (const DType dtype : {kFloat32, kFloat16}) {
    const auto item = static_cast<std::uintptr_t>(item_size(dtype));
    std::vector<bool> seen(16 / item);
    for (std::uint32_t round = 0; round < 16; ++round) {
      const auto offset = [&](std::uint32_t array) {
        const GuardedArray made({3}, dtype, Layout::misaligned, 0, {}, {array, round});
        return reinterpret_cast<std::uintptr_t>(made.view().data()) % 16 / item;
      };
      EXPECT_FALSE(offset(0) == offset(1) && offset(1) == offset(2)) << round;
      seen[offset(1)] = true;
    }
    EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0) << "every offset occurs";
  }
  const GuardedArray last({3}, kFloat32, Layout::page_end, 0);
  EXPECT_EQ((reinterpret_cast<std::uintptr_t>(last.view().data()) + 12) % 4096, 0u);
}

}  // namespace
}  // namespace halfgrad::testing
