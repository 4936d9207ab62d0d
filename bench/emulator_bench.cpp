// Speed of the emulator's interpreter on kernels that nvcc compiled: lane instructions a second.
//   emulator_bench tests/emulator/simt/data/kernels.ptx
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/memory/allocations.h>
#include <halfgrad/emulator/ptx/module.h>
#include <halfgrad/emulator/simt/launch.h>

using namespace halfgrad::emulator;

namespace {

struct Arguments {
  template <class T>
  Arguments& operator()(T value) {
    bytes.resize((bytes.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
    std::memcpy(bytes.data() + bytes.size() - sizeof(T), &value, sizeof value);
    return *this;
  }
  std::vector<std::byte> bytes;
};

/// A device buffer of floats or integers that are 0.
std::uint64_t zeros(Allocations& memory, std::size_t bytes) {
  const Allocation* allocation = memory.allocate(MemoryKind::device, 0, bytes, 256, "bench");
  std::memset(allocation->host, 0, bytes);
  if (allocation->written != nullptr) std::memset(allocation->written, 1, bytes);
  return allocation->begin;
}

struct Case {
  const char* kernel;
  Dim3 grid, block;
  Arguments arguments;
  unsigned launches;
};

void measure(Module& module, Allocations& memory, const Settings& settings, const Case& one,
             const char* label) {
  FindingLog findings;
  const Machine machine{memory, findings, settings};
  const Kernel* kernel = module.kernel(one.kernel);
  LaunchRequest request{module, *kernel, one.grid, one.block};
  request.parameters = one.arguments.bytes.data();
  run(machine, request);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  std::uint64_t lanes = 0;
  for (unsigned i = 0; i < one.launches; ++i) lanes += run(machine, request).total().active_lanes;
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  std::printf("%-12s %-24s %9.1f million lane instructions/s %9.0f launches/s\n", one.kernel, label,
              static_cast<double>(lanes) / seconds / 1e6, one.launches / seconds);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s kernels.ptx\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1]);
  std::stringstream text;
  text << file.rdbuf();
  Module module(text.str());
  Allocations memory;
  constexpr int kSize = 1 << 20, kSide = 256;
  const std::uint64_t a = zeros(memory, 4 * kSize), b = zeros(memory, 4 * kSize);
  const std::uint64_t c = zeros(memory, 4 * kSize);
  const Case cases[] = {
      {"saxpy", {kSize / 256}, {256}, Arguments{}(kSize)(2.0f)(a)(b), 4},
      {"tiled_gemm", {kSide / 16, kSide / 16}, {16, 16}, Arguments{}(kSide)(a)(b)(c), 2},
      {"block_sum", {kSize / 256}, {256}, Arguments{}(a)(b), 4},
      {"collatz", {1024}, {256}, Arguments{}(a), 4},
      {"saxpy", {1}, {32}, Arguments{}(32)(2.0f)(a)(b), 20'000},
  };
  for (const bool checks : {false, true}) {
    for (const unsigned threads : {1u, 2u}) {
      Settings settings;
      settings.threads = threads;
      settings.check_memory = settings.check_race = settings.check_init = settings.check_sync =
          checks;
      const std::string label = std::to_string(threads) +
                                (threads == 1 ? " thread, " : " threads, ") +
                                (checks ? "all checks" : "no checks");
      for (const Case& one : cases) measure(module, memory, settings, one, label.c_str());
    }
  }
  return 0;
}
