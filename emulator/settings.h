#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace halfgrad::emulator {

/// How a program is emulated. halfgrad-emulate hands its options to the program's process as one
/// environment variable, HALFGRAD_EMULATE, with a JSON object of these names.
struct Settings {
  bool check_memory = true, check_race = true, check_init = true, check_sync = true,
       check_leak = true;
  bool lazy_streams = false;  ///< runs work only when something waits for it
  std::uint64_t seed = 0;
  int devices = 1;
  std::size_t memory = std::size_t{8} << 30;  ///< bytes of each device
  std::string gpu = "a100";                   ///< a file in emulator/gpus, without .json
  unsigned threads = 0;  ///< host threads that run blocks; 0: one for each core
  /// Limit on the instructions of all warps of one block. A block above it counts as stuck.
  std::uint64_t max_instructions = 4'000'000'000;
  /// Milliseconds for which a rank of a collective waits for others that call nothing at all.
  unsigned collective_patience = 10'000;
  bool continue_after_abort = false;  ///< calls after an aborted kernel still succeed
  std::string mutant;                 ///< a change of the kernels, see ptx/mutation.h, or ""
  bool step = false;                  ///< prints every instruction with its registers
  std::string step_kernel;            ///< makes `step` print only kernels whose name contains this
  unsigned multiprocessors = 0;       ///< replaces the GPU's count; 0: keeps it
  std::string refuse;                 ///< cuBLASLt features to refuse: "epilogue", ...
  bool relu_keeps_nan = true;         ///< the relu epilogue of cuBLASLt returns NaN for NaN, not 0
  bool quiet = false;                 ///< prints no findings; the report has them
  std::string report_json;            ///< path to write findings and counters to, or ""
  std::string suppress;               ///< path of a file of suppressions, or ""
  std::string trace;                  ///< path of a Perfetto trace, or ""
};

/// Settings of this process. Throws std::invalid_argument naming a key that is unknown.
const Settings& settings();
Settings parse_settings(const std::string& json);
std::string to_json(const Settings& settings);

}  // namespace halfgrad::emulator
