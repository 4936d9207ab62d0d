#include <cfenv>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <halfgrad/testing/kernel_check.h>
#include <halfgrad/testing/kernel_report.h>
#include <halfgrad/tests/testing/planted/wrong_cheats.h>
#include <halfgrad/tests/testing/planted/wrong_memory.h>

/// Kernels that try to get past the check.
namespace halfgrad::testing {
namespace {

using planted::Call;
using planted::Index;

const std::vector<Dims> kSmall{{3, 1, 7}};

KernelReport checked(const Kernel& kernel, bool own_process, const char* op = "sum") {
  return check_kernel(
      kernel, op,
      {.dims = kSmall, .shrink = false, .own_process = own_process, .timeout = 1, .repeat = 100});
}

/// The message of the only finding, after its fault.
std::string finding(const KernelReport& report) {
  if (report.findings.size() != 1) return to_text(report);
  return std::string(name(report.findings[0].fault)) + ": " + report.findings[0].message;
}

TEST(KernelReach, AKernelThatDoesNothingIsCalledThat) {
  const Kernel nothing = planted::called([](const Call&) {});
  for (const bool own_process : {false, true}) {
    EXPECT_EQ(finding(checked(nothing, own_process)),
              "unwritten: the kernel writes nothing: all 3 elements are left as they were");
  }
}

// A write during a later call may show as a wrong value first.
TEST(KernelReach, AWriteAfterTheReturnIsCalledThat) {
  const KernelReport report = checked(planted::late_writing(planted::right_sum(), 1, 1), true);
  for (const KernelFinding& found : report.findings) {
    if (found.fault != Fault::changed_later) continue;
    EXPECT_EQ(
        found.message,
        "element 2 of the output was written after the kernel had returned; the shape is [3]");
    return;
  }
  ADD_FAILURE() << to_text(report);
}

TEST(KernelReach, ResultsOfEarlierCallsAreFoundInEveryProcess) {
  const Kernel kernel = planted::repeating(planted::right_sum(), planted::pointers_key, 5);
  for (const bool own_process : {false, true}) {
    EXPECT_EQ(finding(checked(kernel, own_process)),
              "stale: other inputs in the same memory give the result of an earlier call");
  }
}

TEST(KernelReach, AKernelThatTurnsWrongAfterSomeTimeIsFound) {
  using Clock = std::chrono::steady_clock;
  const Kernel kernel = [right = planted::right_sum(), start = Clock::now()](
                            const std::vector<Array>& in, const Array& out) {
    right(in, out);
    if (Clock::now() - start > std::chrono::milliseconds(400)) out.data_as<float>()[0] = 7;
  };
  const KernelReport report = check_kernel(kernel, "sum", {.shrink = false, .own_process = true});
  EXPECT_FALSE(report.passed()) << to_text(report);
}

// A library may set a variable when it begins.
TEST(KernelReach, AVariableMayBeAddedToTheEnvironmentOnce) {
  const Kernel kernel = [right = planted::right_sum(), first = true](const std::vector<Array>& in,
                                                                     const Array& out) mutable {
    right(in, out);
    if (first) ::setenv("LIBRARY_HAS_BEGUN", "1", 1);
    first = false;
  };
  const KernelReport report = checked(kernel, true);
  EXPECT_TRUE(report.passed()) << to_text(report);
}

TEST(KernelReach, TheCallersStateMustStayAndIsRestored) {
  const Kernel rounds = planted::sum_and([] { std::fesetround(FE_UPWARD); });
  for (const bool own_process : {false, true}) {
    EXPECT_EQ(
        finding(checked(rounds, own_process)),
        "state changed: the kernel left the rounding mode changed, from to nearest to upward");
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
  }
}

#if defined(__x86_64__)
TEST(KernelReach, AContractMayFlushSubnormals) {
  const Kernel flushes = planted::sum_and(planted::flush_subnormals);
  EXPECT_EQ(finding(checked(flushes, false)),
            "state changed: the kernel left its caller flushing subnormals to 0");
  const KernelCheckOptions options{
      .dims = kSmall, .leniency = {.flush_subnormals = true}, .shrink = false};
  EXPECT_TRUE(check_kernel(flushes, "sum", options).passed());
}
#endif

// Guards find a stray write in this process; an inaccessible page stops it in another.
TEST(KernelReach, AnOutputIsCalledByItsName) {
  const Kernel stray = [](const std::vector<Array>&, const std::vector<Array>& outputs) {
    outputs[1].data_as<float>()[outputs[1].numel()] = 7;
  };
  for (const bool own_process : {false, true}) {
    const KernelCheckOptions options{
        .layouts = {own_process ? Layout::page_end : Layout::contiguous},
        .dims = kSmall,
        .shrink = false,
        .own_process = own_process};
    const std::string found = finding(check_kernel(stray, "rms_norm_backward", options));
    EXPECT_TRUE(found.starts_with("out of bounds: wrote at element 7 of output dw, which has "))
        << found;
  }
}

TEST(KernelReach, RepeatedCallsCanBeReplayed) {
  const KernelCheckOptions options{.dims = kSmall, .seed = 5, .fresh_seed = 77};
  const KernelReport report = check_kernel(planted::right_sum(), "sum", options);
  EXPECT_NE(to_text(report).find("seed          5, of repeated calls 77"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"seed\": 5, \"fresh_seed\": 77"), std::string::npos);
  const auto drawn = [] {
    return *check_kernel(planted::right_sum(), "sum", {.dims = kSmall}).fresh_seed;
  };
  EXPECT_NE(drawn(), drawn());
}

// docs/kernel_faults.md says that these pass.
sigjmp_buf before_read;
void go_back(int) { siglongjmp(before_read, 1); }

Kernel sum_that_handles_its_faults() {
  return planted::called([](const Call& c) {
    struct sigaction own {
    }, old{};
    own.sa_handler = go_back;
    ::sigaction(SIGSEGV, &own, &old);
    if (sigsetjmp(before_read, 1) == 0) planted::touch(c, 0, c.m * c.k);
    ::sigaction(SIGSEGV, &old, nullptr);
    planted::right_sum()(c.in, c.out);
  });
}
Kernel sum_that_opens_its_input() {
  return planted::called([](const Call& c) {
    if (c.in[0].numel() > 0) {
      auto* const x = c.in[0].data_as<float>();
      const auto page = reinterpret_cast<std::uintptr_t>(x) / 4096 * 4096;
      ::mprotect(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE);
      const float first = x[0];
      *static_cast<volatile float*>(x) = 7;
      *static_cast<volatile float*>(x) = first;
    }
    planted::right_sum()(c.in, c.out);
  });
}

TEST(KernelReach, AKernelCannotHideAStrayAccess) {
  const KernelReport handles = checked(sum_that_handles_its_faults(), true);
  ASSERT_FALSE(handles.findings.empty());
  EXPECT_EQ(handles.findings[0].fault, Fault::out_of_bounds) << to_text(handles);
  const KernelReport opens = checked(sum_that_opens_its_input(), true);
  ASSERT_FALSE(opens.findings.empty());
  EXPECT_EQ(opens.findings[0].fault, Fault::changed_state) << to_text(opens);
}

TEST(KernelReach, SomeKernelsStayUnnoticed) {
  EXPECT_TRUE(checked(planted::writing_first(planted::right_sum(), 100'000), true).passed());
}

}  // namespace
}  // namespace halfgrad::testing
