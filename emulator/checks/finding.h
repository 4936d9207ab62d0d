#pragma once

#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace halfgrad::emulator {

/// Kinds of findings; finding_name() gives the word that reports use.
enum class FindingKind : std::uint8_t {
  out_of_bounds,
  misaligned,
  use_after_free,
  race,         ///< two accesses that nothing orders, at least one a write
  stream_race,  ///< the same between operations of different streams, or with the host
  uninitialised,
  barrier,     ///< a barrier that not all threads reach, or different ones
  warp_sync,   ///< a shuffle from an absent lane, a mask that misses the caller
  async_copy,  ///< data of an asynchronous copy used before it was waited for
  deadlock,
  trap,
  assertion,
  unknown_instruction,
  unknown_function,
  host_access,  ///< host code dereferenced a device pointer
  capture,      ///< a call that is illegal while a stream is captured
  leak,
  unchecked_error,  ///< an error that nobody looked at
  invalid_call,
};
const char* finding_name(FindingKind kind);

enum class Severity : std::uint8_t { note, error };

/// One defect of the program under test.
struct Finding {
  FindingKind kind{};
  Severity severity = Severity::error;
  std::string message;      ///< description without a full stop
  std::string kernel;       ///< demangled, or ""
  std::string source_file;  ///< CUDA source, or ""
  unsigned source_line = 0;
  std::string inlined_at;   ///< "main.cu:50": outermost call site of an inlined function, or ""
  std::string instruction;  ///< PTX text
  unsigned ptx_line = 0;
  std::string block, thread;  ///< "(x,y,z)", or ""
  std::uint64_t address = 0;
  std::string allocation;   ///< accessed allocation, and the call that made it
  std::string other;        ///< the second access of a race
  std::string called_at;    ///< call sites on the host of a finding that no kernel made, or ""
  std::uint64_t count = 1;  ///< how often it was seen at this line
};

/// One paragraph: what, kernel, line, block, thread, address, allocation.
std::string to_string(const Finding& finding);

/// Collects findings; those of the same kind at the same line of the same kernel count as one,
/// which keeps the one of the lowest block and thread. Thread-safe.
class FindingLog {
 public:
  void add(Finding finding);
  std::vector<Finding> all() const;
  bool has_errors() const;
  /// Calls this for each finding that is the first at its place.
  void listen(void (*listener)(const Finding&)) { listener_ = listener; }
  /// Calls this for each finding before it is compared with others: it adds what only the process
  /// knows.
  void complete(void (*completer)(Finding&)) { completer_ = completer; }

 private:
  mutable std::mutex mutex_;
  std::vector<Finding> findings_;
  void (*listener_)(const Finding&) = nullptr;
  void (*completer_)(Finding&) = nullptr;
};

/// Thrown where a GPU would abort the kernel; the finding is already in the log.
struct KernelAborted : std::runtime_error {
  KernelAborted(FindingKind kind, const std::string& what) : std::runtime_error(what), kind(kind) {}
  FindingKind kind;
};

}  // namespace halfgrad::emulator
