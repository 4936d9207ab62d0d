#pragma once

#include <cstdint>

#include <halfgrad/emulator/ptx/instructions/matrix_descriptor.h>
#include <halfgrad/emulator/ptx/instructions/matrix_product.h>

namespace halfgrad::emulator {

inline constexpr unsigned kWarpsOfGroup = 4;

/// A form of wgmma.mma_async: D = A B + D with D of 64 x n in registers and B in shared memory.
/// Warp w of the warpgroup computes rows 16 w to 16 w + 15, as n / 8 products of 16 x 8 x k.
/// Instructions of one form share it.
struct WarpgroupProduct {
  Product block;  ///< one of the products of 16 x 8 x k
  unsigned blocks = 0;
  bool a_in_registers = false;
  Major major_a = Major::k, major_b = Major::k;
  bool negates_a = false, negates_b = false;

  bool operator==(const WarpgroupProduct&) const = default;
};

/// The operand scale-d: false means that D counts as 0.
enum class ScaleD : std::uint8_t { zero, one, predicate, negated_predicate };

/// Sources: the descriptors of B and of A, unless A is in registers; then the predicate scale-d,
/// unless it is a constant. The list has the registers of D, then those of A.
struct WarpgroupOptions {
  const WarpgroupProduct* product;
  ScaleD scale_d;
};

void execute_warpgroup_product(Execution& execution, const Instruction& instruction);
void execute_warpgroup_fence(Execution& execution, const Instruction& instruction);
void execute_warpgroup_commit(Execution& execution, const Instruction& instruction);
/// `immediate` groups may stay under way.
void execute_warpgroup_wait(Execution& execution, const Instruction& instruction);

}  // namespace halfgrad::emulator
