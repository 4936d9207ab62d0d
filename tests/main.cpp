#include <cstdio>
#include <exception>
#include <string_view>

#include <gtest/gtest.h>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/core/stream.h>

namespace {

// A kernel's report of a bad index that no test has waited for would be thrown in a later one.
class IndexReportsAreRead : public testing::EmptyTestEventListener {
  void OnTestEnd(const testing::TestInfo&) override {
    try {
      halfgrad::cuda::synchronize();
    } catch (const std::exception& error) {
      ADD_FAILURE() << "expected the test to wait for what it queued, got " << error.what();
    }
  }
};

}  // namespace

// Runs the tests of a folder; with --device=D those that do not choose a device themselves on D,
// "cuda", "cuda:1", or "cpu:1", a second device in host memory (core/device.h).
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  constexpr std::string_view kOption = "--device=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with(kOption)) {
      std::fprintf(stderr, "%s: expected --device=D, got %s\n", argv[0], argv[i]);
      return 2;
    }
    const std::string_view name = argument.substr(kOption.size());
    const halfgrad::Device device =
        name == "cpu:1" ? halfgrad::Device(halfgrad::kCPU, 1) : halfgrad::Device(name);
    if (device.is_cuda() && !halfgrad::cuda::is_available()) {
      std::printf("SKIPPED: %d tests on %s: no GPU: %s\n",
                  ::testing::UnitTest::GetInstance()->total_test_count(), argv[i],
                  halfgrad::cuda::why_unavailable().c_str());
      constexpr int kSkipped = 77;
      return kSkipped;
    }
    halfgrad::set_default_device(device);
  }
  if (halfgrad::cuda::is_available()) {
    testing::UnitTest::GetInstance()->listeners().Append(new IndexReportsAreRead);
  }
  return RUN_ALL_TESTS();
}
