#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/instruction.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {

/// Registers whose values the hardware provides (PTX ISA, "Special Registers"). A function names
/// the ones it reads in `Function::specials`; the scheduler fills them when it makes a frame.
/// Clocks are not among them: the decoder puts an instruction that samples the clock before each
/// one that reads it.
enum class Special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,  // clang-format off
  ctaid_x, ctaid_y, ctaid_z, nctaid_x, nctaid_y, nctaid_z,
  laneid, warpid, nwarpid, smid, nsmid, gridid,
  lanemask_eq, lanemask_le, lanemask_lt, lanemask_ge, lanemask_gt,
  envreg1, envreg2,                             ///< high and low half of the grid's workspace (cooperative groups)
  dynamic_smem_size, total_smem_size,
  dynamic_smem_begin,                           ///< byte offset of `extern __shared__` arrays; not a register of PTX
  reserved_smem_begin, reserved_smem_end, reserved_smem_cap, reserved_smem_offset_1,
  cluster_ctaid_x, cluster_ctaid_y, cluster_ctaid_z, cluster_nctaid_x, cluster_nctaid_y, cluster_nctaid_z,
  clusterid_x, clusterid_y, clusterid_z, nclusterid_x, nclusterid_y, nclusterid_z,
  cluster_ctarank, cluster_nctarank, is_explicit_cluster,  // clang-format on
  local_begin,          ///< offset of the frame in its lane's local memory; not a register of PTX
  zero,
};

/// Bytes at one place in the parameter memory of a frame, or in the parameter buffer of a launch.
///
/// Addresses in .param space name both: those below `Function::launch_parameter_bytes` are offsets
/// in the launch's buffer, the same for all lanes. The others, less launch_parameter_bytes, are
/// offsets in the frame's parameter memory, which each lane has.
struct Parameter {
  std::string name;
  std::size_t offset = 0, bytes = 0, alignment = 1;
};

/// A call in a function. Arguments and results lie in the caller's parameter memory: 32 lanes, each
/// with `Function::parameter_bytes` bytes. They have the sizes of the callee's parameters and
/// results, where `callee` is known.
struct Call {
  const struct Function* callee = nullptr;  ///< nullptr: `name` is a builtin, or `address` holds it
  std::string name;            ///< the callee, such as vprintf or malloc; empty: indirect
  Offset address = kNoOffset;  ///< register with a function's address, of an indirect call
  std::vector<Parameter> arguments, results;
};

/// A `__shared__` variable of known size.
struct SharedArray {
  std::string name;                  ///< mangled
  std::uint64_t begin = 0, end = 0;  ///< byte offsets in a block's shared memory
};

/// A decoded function: a kernel, or a device function that was not inlined.
struct Function {
  struct Constant {
    Offset offset;
    Type type;
    std::uint64_t bits;
  };
  struct SpecialUse {
    Offset offset;
    Special special;
    bool wide;                 ///< 64 bits a lane instead of 32
    std::uint64_t addend = 0;  ///< is added to the special register's value
  };

  std::string name;  ///< mangled
  bool is_kernel = false;
  std::uint64_t address = 0;  ///< the value that `mov` takes
  std::vector<Instruction> code;
  std::vector<Statement> statements;  ///< each instruction's, in the same order
  std::size_t register_bytes = 0;
  std::vector<Constant> constants;  ///< copied to all lanes when a frame is made
  std::vector<SpecialUse> specials;
  std::size_t local_bytes = 0;             ///< one lane's local memory
  std::size_t launch_parameter_bytes = 0;  ///< a kernel's: Kernel::parameter_bytes; a function's: 0
  /// Bytes of one lane's parameter memory: a function's own parameters and results, and those of
  /// calls.
  std::size_t parameter_bytes = 0;
  /// Offsets are in the launch's buffer for a kernel, in the frame's parameter memory for a
  /// function.
  std::vector<Parameter> parameters, results;
  std::vector<Call> calls;
  std::vector<std::vector<std::uint32_t>> branch_tables;
  std::deque<std::vector<Offset>> lists;         ///< storage that Instruction::list views
  std::map<std::uint32_t, std::string> unknown;  ///< why instruction i is unknown
  std::vector<SharedArray> shared_arrays;
  /// For each instruction, the index of the array from whose address it computes its own, or less
  /// than 0. Empty if no instruction accesses shared memory.
  std::vector<std::int32_t> array_of;
  std::size_t register_count = 0;  ///< PTX's virtual registers
  std::size_t first_counter = 0;   ///< index of the first instruction in a kernel's counters
  /// For each instruction, the counters' index of the first one at the same source line: a place
  /// that all copies in an unrolled loop share.
  std::vector<std::uint32_t> places;
};

/// A kernel with all functions that it calls.
struct Kernel {
  std::uint64_t serial = 0;  ///< unique in the process, also after modules were unloaded
  const Function* main = nullptr;
  std::vector<const Function*> functions;  ///< main first
  std::size_t parameter_bytes = 0;         ///< the packed parameter buffer of a launch
  std::size_t static_shared_bytes = 0;
  std::size_t dynamic_shared_alignment = 16;
  std::size_t local_bytes = 0;  ///< the deepest chain of calls
  bool recursive = false;
  unsigned max_threads = 1024;                 ///< .maxntid, if given
  unsigned min_blocks = 0;                     ///< .minnctapersm
  std::array<unsigned, 3> required_threads{};  ///< .reqntid, 0 if not given
  std::array<unsigned, 3> required_cluster{};  ///< .reqnctapercluster, 0 if not given
  std::size_t instruction_count = 0;  ///< sum over all functions: the length of the counters
};

}  // namespace halfgrad::emulator
