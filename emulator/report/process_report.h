#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <halfgrad/emulator/checks/finding.h>
#include <halfgrad/emulator/ptx/mutation.h>
#include <halfgrad/emulator/settings.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

/// Executions of warps by class of instruction.
using ClassCounts = std::array<std::uint64_t, static_cast<std::size_t>(InstructionClass::count)>;
const char* class_name(InstructionClass instruction_class);

/// One launch as reports show it.
struct LaunchRecord {
  std::size_t kernel = 0;  ///< index in LaunchLog::kernels()
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  double begin_seconds = 0;  ///< since the log was made, on the host
  double host_seconds = 0;   ///< time that the emulator took
  std::uint64_t warps = 0;
  InstructionCounters total;
  ClassCounts classes{};
};

/// All launches of one kernel together.
struct KernelRecord {
  std::string name;              ///< demangled
  unsigned registers = 0;        ///< estimate for one thread: only ptxas knows the real count
  std::size_t shared_bytes = 0;  ///< static
  std::uint64_t launches = 0;
  /// By file and line of the CUDA source; ("", line of the PTX) without -lineinfo.
  std::map<std::pair<std::string, unsigned>, InstructionCounters> lines;
  std::set<Mutant> mutants;  ///< mutants that change an executed instruction
};

/// Cost of work other than a kernel: bytes of a copy's source or of a memset, or the bytes that a
/// library call has to read and write once, and its arithmetic.
struct WorkCost {
  std::uint64_t bytes = 0, flops = 0;
};

/// A copy, a memset or a library call that ran, or a launch of a graph.
struct CallRecord {
  const char* kind = "";         ///< "copy", "memset", "library" or "graph"
  std::string name;              ///< "cudaMemcpyAsync"
  std::string detail;            ///< direction of a copy, sizes of matrices or of a graph
  std::optional<WorkCost> cost;  ///< unknown for some of cuBLAS
};

/// Launches and calls of a process, in order. Thread-safe.
class LaunchLog {
 public:
  LaunchLog();
  /// Adds a launch that ended.
  void add(const LaunchRequest& request, const LaunchCounters& counters);
  void add(CallRecord call);

  std::vector<KernelRecord> kernels() const;
  std::vector<LaunchRecord> launches() const;
  std::vector<CallRecord> calls() const;

 private:
  /// Places that sum a kernel's counters. Kernels of one name share a record.
  struct KernelSums {
    std::size_t record = 0;                  ///< index in kernels_
    std::vector<InstructionCounters*> line;  ///< by instruction, in the record
    std::vector<InstructionClass> kind;      ///< by instruction
    /// The mutant of each instruction, until the record has it.
    std::vector<std::optional<Mutant>> mutant;
  };
  KernelSums& sums_of(const LaunchRequest& request);
  std::size_t record_of(const Kernel& kernel);

  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> index_;            ///< by mangled name
  std::unordered_map<std::uint64_t, KernelSums> sums_;  ///< by Kernel::serial
  std::vector<KernelRecord> kernels_;
  std::vector<LaunchRecord> launches_;
  std::vector<CallRecord> calls_;
  double begin_ = 0;
};

/// The report that halfgrad-emulate reads: a JSON object with findings, kernels, launches and
/// calls.
std::string report_json(const std::vector<Finding>& findings, const LaunchLog& launches,
                        const Settings& settings);

/// Writes report_json to settings.report_json at the end of the process; nothing if that is empty.
/// Throws std::runtime_error if the file cannot be written.
void write_report(const std::vector<Finding>& findings, const LaunchLog& launches,
                  const Settings& settings);

}  // namespace halfgrad::emulator
