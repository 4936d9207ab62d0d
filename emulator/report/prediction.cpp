#include <halfgrad/emulator/report/prediction.h>

#include <algorithm>
#include <cmath>

#include <halfgrad/emulator/memory/coalescing.h>

namespace halfgrad::emulator {
namespace {

constexpr double kDependencyCycles = 6;  // from an instruction to the next that needs its result
constexpr double kIssuesPerCycle = 4;    // warp schedulers of a multiprocessor

/// Blocks that fit into a multiprocessor: the tightest of four limits.
unsigned resident_blocks(const GpuModel& gpu, const LaunchRecord& launch,
                         const KernelRecord& kernel) {
  const auto threads = static_cast<unsigned>(std::max<std::uint64_t>(launch.block.product(), 1));
  const unsigned whole_warps = (threads + kWarpSize - 1) / kWarpSize * kWarpSize;
  const std::size_t shared = kernel.shared_bytes + launch.dynamic_shared_bytes;
  unsigned blocks = std::min(gpu.blocks, gpu.threads / whole_warps);
  blocks = std::min(blocks, gpu.registers / (whole_warps * std::max(kernel.registers, 16u)));
  if (shared != 0) blocks = std::min(blocks, static_cast<unsigned>(gpu.shared_bytes / shared));
  return std::max(blocks, 1u);
}

double executions(const LaunchRecord& launch, InstructionClass instruction_class) {
  return static_cast<double>(launch.classes[static_cast<std::size_t>(instruction_class)]);
}

/// Seconds of the slowest pipe. Peak FLOP/s count a lane's fused multiply-add as two; integers run
/// at half the rate of f32.
double arithmetic(const GpuModel& gpu, const LaunchRecord& launch) {
  const auto lanes = [&](InstructionClass of) { return executions(launch, of) * kWarpSize; };
  double all = 0;
  for (const std::uint64_t count : launch.classes) all += static_cast<double>(count);
  const double issue_rate = kIssuesPerCycle * gpu.multiprocessors * gpu.clock_hz;
  const double special =
      lanes(InstructionClass::special_function) + lanes(InstructionClass::conversion);
  return std::max({lanes(InstructionClass::f32) * 2 / gpu.f32_flops,
                   lanes(InstructionClass::integer) * 4 / gpu.f32_flops,
                   lanes(InstructionClass::f64) * 2 / gpu.f64_flops,
                   lanes(InstructionClass::f16) * 2 / gpu.f16_flops,
                   special / gpu.special_functions_per_second,
                   static_cast<double>(launch.total.flops) / gpu.matrix_flops, all / issue_rate});
}

}  // namespace

Prediction predict(const GpuModel& gpu, const LaunchRecord& launch, const KernelRecord& kernel) {
  Prediction result;
  result.blocks_per_multiprocessor = resident_blocks(gpu, launch, kernel);
  const double warps_of_block = std::ceil(static_cast<double>(launch.block.product()) / kWarpSize);
  const double most_warps = gpu.threads / kWarpSize;
  result.occupancy = std::min(1.0, result.blocks_per_multiprocessor * warps_of_block / most_warps);

  result.memory_seconds =
      static_cast<double>(launch.total.sectors) * kSectorBytes / gpu.memory_bytes_per_second;
  result.arithmetic_seconds = arithmetic(gpu, launch);
  const double resident =
      static_cast<double>(gpu.multiprocessors) * result.blocks_per_multiprocessor;
  const double waves = std::ceil(static_cast<double>(launch.grid.product()) / resident);
  const double of_warp = static_cast<double>(launch.total.executed) /
                         static_cast<double>(std::max<std::uint64_t>(launch.warps, 1));
  result.dependency_seconds = of_warp * kDependencyCycles / gpu.clock_hz * waves;

  const double work =
      std::max({result.memory_seconds, result.arithmetic_seconds, result.dependency_seconds});
  result.seconds = gpu.launch_seconds + work;
  if (work > gpu.launch_seconds) {
    result.bound_by = work == result.memory_seconds       ? "memory"
                      : work == result.arithmetic_seconds ? "arithmetic"
                                                          : "dependency";
  }
  return result;
}

}  // namespace halfgrad::emulator
