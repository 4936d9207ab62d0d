#include <exception>

#include <gtest/gtest.h>

#include "small_gpu.h"

namespace halfgrad::emulator {
namespace {

TEST(Launch, AnAbortedLaunchReturnsItsCounters) {
  SmallGpu gpu;
  Module module(kernel("mov.u64 %rd2, 0;\nst.global.u32 [%rd2], %r1;\nret;"));
  const Machine machine{gpu.memory, gpu.findings, gpu.settings};
  const std::uint64_t argument = gpu.address();
  LaunchRequest request{module, *module.kernel("k"), {1}, {32}};
  request.parameters = reinterpret_cast<const std::byte*>(&argument);
  std::exception_ptr failure;
  const LaunchCounters counters = run(machine, request, &failure);
  ASSERT_NE(failure, nullptr);
  EXPECT_THROW(std::rethrow_exception(failure), KernelAborted);
  EXPECT_GE(counters.total().executed, 2u);
  EXPECT_EQ(counters.blocks, 1u);
}

}  // namespace
}  // namespace halfgrad::emulator
