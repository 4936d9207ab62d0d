#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include <halfgrad/emulator/simt/execution.h>

namespace halfgrad::emulator {

struct Function;

/// Registers of a warp that products of wgmma under way write, by their place. Their values are
/// undefined until wgmma.wait_group. A move passes the state on, since compilers rename registers;
/// a write ends it, since registers share places.
class PendingRegisters {
 public:
  bool any() const { return !products_.empty(); }
  /// Product number `number` of the warp, from 1, writes its first `accumulators` registers.
  void add(const Execution& execution, const Instruction& product, unsigned accumulators,
           std::uint64_t number);
  /// All products up to this number are complete.
  void finish(std::uint64_t number);
  /// Reports registers that the instruction, which is none of wgmma, reads too early. Call it
  /// before or after its execution.
  void check(const Execution& execution, const Instruction& instruction);

 private:
  struct Product {
    std::uint64_t number = 0;
    const Function* function = nullptr;
    const Instruction* instruction = nullptr;
  };

  std::unordered_map<const std::byte*, Product> products_;
};

}  // namespace halfgrad::emulator
