#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halfgrad::emulator {

/// Published figures of a GPU, from emulator/gpus/NAME.json, which names their source.
struct GpuModel {
  std::string name, source;
  unsigned compute_capability = 80;  ///< 80 for 8.0
  unsigned multiprocessors = 0;
  double clock_hz = 0;
  double memory_bytes_per_second = 0;
  std::size_t l2_bytes = 0;
  // Limits of one multiprocessor.
  std::size_t shared_bytes = 0;
  unsigned registers = 0, threads = 0, blocks = 0;
  // Peak operations a second, with a fused multiply-add as two.
  double f64_flops = 0, f32_flops = 0, f16_flops = 0, matrix_flops = 0;
  double special_functions_per_second = 0;
  double launch_seconds = 0;
};

std::vector<std::string> gpu_names();
/// Throws std::invalid_argument that lists the known names.
GpuModel gpu_model(std::string_view name);

}  // namespace halfgrad::emulator
