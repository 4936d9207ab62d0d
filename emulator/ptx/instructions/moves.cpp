// PTX ISA, "Data Movement and Conversion Instructions": mov cvta isspacep.

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/memory/cluster_address.h>
#include <halfgrad/emulator/memory/local_pointer.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/predicates.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

struct Identity {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};

/// Packs sources into one register, the first in the lowest bits. Each source has `Bits` bits of a
/// register Part.
template <class Whole, class Part, unsigned Bits = kBits<Part>>
void pack(Execution& execution, const Instruction& instruction) {
  constexpr unsigned n = kBits<Whole> / Bits;
  constexpr Part kMask = static_cast<Part>(~Part{0} >> (kBits<Part> - Bits));
  Whole packed[kWarpSize] = {};
  for (unsigned part = 0; part < n; ++part) {
    const Part* source = execution.lanes<Part>(instruction.source(part));
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const Part value = source[lane] & kMask;
      packed[lane] |= static_cast<Whole>(static_cast<Whole>(value) << part * Bits);
    }
  }
  Whole* result = execution.lanes<Whole>(instruction.operands[0]);
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    result[lane] = (execution.mask >> lane & 1) != 0 ? packed[lane] : result[lane];
  }
}

template <class Whole, class Part, unsigned Bits = kBits<Part>>
void unpack(Execution& execution, const Instruction& instruction) {
  constexpr unsigned n = kBits<Whole> / Bits;
  constexpr Part kMask = static_cast<Part>(~Part{0} >> (kBits<Part> - Bits));
  const Whole* source = execution.lanes<Whole>(instruction.source(0));
  for (unsigned part = 0; part < n; ++part) {
    Part* result = execution.lanes<Part>(instruction.operands[part]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const Part value = static_cast<Part>(source[lane] >> part * Bits) & kMask;
      result[lane] = (execution.mask >> lane & 1) != 0 ? value : result[lane];
    }
  }
}

template <class Whole, class Part, unsigned Bits = kBits<Part>>
Execute repack(bool packs) {
  return packs ? &pack<Whole, Part, Bits> : &unpack<Whole, Part, Bits>;
}

struct VectorForm {
  Type part;
  Execute execute;
};

VectorForm vector_form(unsigned bytes, std::size_t parts, bool packs) {
  using U16 = std::uint16_t;  // registers of 8 bits have 16
  if (bytes == 2 && parts == 2) return {Type::b8, repack<U16, U16, 8>(packs)};
  if (bytes == 4 && parts == 4) return {Type::b8, repack<std::uint32_t, U16, 8>(packs)};
  if (bytes == 4 && parts == 2) return {Type::b16, repack<std::uint32_t, std::uint16_t>(packs)};
  if (bytes == 8 && parts == 2) return {Type::b32, repack<std::uint64_t, std::uint32_t>(packs)};
  if (bytes == 8 && parts == 4) return {Type::b16, repack<std::uint64_t, std::uint16_t>(packs)};
  if (bytes == 16 && parts == 2) return {Type::b64, repack<Unsigned128, std::uint64_t>(packs)};
  if (bytes == 16 && parts == 4) return {Type::b32, repack<Unsigned128, std::uint32_t>(packs)};
  return {Type::none, nullptr};
}

void move_vector(Encoder& encoder, Type type, const Operand& to, const Operand& from) {
  const bool packs = from.kind == Operand::Kind::vector;
  const auto& parts = packs ? from.parts : to.parts;
  const VectorForm form = vector_form(bytes_of(type), parts.size(), packs);
  execute_with(encoder, form.execute);
  if (packs) {
    encoder.destination(to, type);
    for (const Operand& part : parts) encoder.source(part, form.part);
  } else {
    for (const Operand& part : parts) encoder.destination(part, form.part);
    encoder.source(from, type);
  }
}

void move_predicate(Execution& execution, const Instruction& instruction) {
  set_predicate(execution, instruction.operands[0], source_predicate(execution, instruction, 0));
}

/// The window of the state space that a modifier names; global and constant addresses are generic.
std::uint64_t window_of(const Statement& statement) {
  if (statement.has("shared") || statement.has("shared::cluster")) return kSharedWindow;
  if (statement.has("local")) return kLocalWindow;
  return statement.has("param") ? kParameterWindow : 0;
}

struct AddWindow {
  std::uint64_t window;
  std::uint64_t operator()(std::uint64_t address) const { return address + window; }
};

void convert_address(Execution& execution, const Instruction& instruction) {
  const AddWindow formula{static_cast<std::uint64_t>(instruction.immediate)};
  compute_lanes<std::uint64_t, std::uint64_t>(execution, instruction, formula,
                                              std::index_sequence<0>{});
}

/// Between offsets in local memory and generic addresses, which name their thread.
template <bool ToGeneric>
void convert_local_address(Execution& execution, const Instruction& instruction) {
  const auto* from = execution.lanes<std::uint64_t>(instruction.source(0));
  auto* to = execution.lanes<std::uint64_t>(instruction.operands[0]);
  each_lane(execution.mask, [&](unsigned lane) {
    to[lane] = ToGeneric ? from[lane] + kLocalWindow + LocalPointer::owner(*execution.warp, lane)
                         : LocalPointer::offset_of(from[lane]);
  });
}

/// isspacep: whether the generic address lies in the window; of shared::cta, in the own block.
template <bool OwnBlock>
void test_address(Execution& execution, const Instruction& instruction) {
  const auto* address = execution.lanes<std::uint64_t>(instruction.source(0));
  const auto window = static_cast<std::uint64_t>(instruction.immediate);
  LaneMask inside = 0;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    bool in = (address[lane] & kWindowMask) == window;
    if (OwnBlock) {
      const std::uint64_t rank = (address[lane] & ~kWindowMask) >> kRankShift;
      in &= rank == 0 || rank == execution.block->rank + 1;
    }
    inside |= LaneMask{in} << lane;
  }
  set_predicate(execution, instruction.operands[0], inside);
}

}  // namespace

void move(Encoder& encoder) {
  only_modifiers(encoder, {});
  require_operands(encoder, 2);
  encoder.instruction.kind = InstructionClass::move;
  const Type type = encoder.statement.type();
  const Operand &to = encoder.statement.operands[0], &from = encoder.statement.operands[1];
  if (to.kind == Operand::Kind::vector || from.kind == Operand::Kind::vector) {
    return move_vector(encoder, type, to, from);
  }
  encoder.destination(0, type);
  if (type == Type::pred) {
    predicate_sources(encoder, 1, 1);
    encoder.instruction.execute = &move_predicate;
    return;
  }
  encoder.source(1, type);
  execute_with(encoder, bytes_of(type) == 16 ? uniform<Identity, Unsigned128, 1>()
                                             : for_bits<Identity, 1>(type));
}

void address_conversion(Encoder& encoder) {
  only_modifiers(encoder, {"to", "global", "shared", "shared::cluster", "local", "param", "const"});
  require_operands(encoder, 2);
  const Type type = encoder.statement.type();
  if (bytes_of(type) != 8) encoder.unknown("expected addresses of 64 bits");
  uniform_operands(encoder, type, 1);
  const std::uint64_t window = window_of(encoder.statement);
  encoder.instruction.kind = InstructionClass::move;
  encoder.instruction.immediate =
      static_cast<std::int64_t>(encoder.statement.has("to") ? 0 - window : window);
  encoder.instruction.execute = &convert_address;
  if (window != kLocalWindow) return;
  encoder.instruction.execute =
      encoder.statement.has("to") ? &convert_local_address<false> : &convert_local_address<true>;
}

void address_test(Encoder& encoder) {
  only_modifiers(encoder, {"global", "shared", "shared::cluster", "local", "param"});
  require_operands(encoder, 2);
  encoder.destination(0, Type::pred);
  encoder.source(1, Type::b64);
  encoder.instruction.immediate = static_cast<std::int64_t>(window_of(encoder.statement));
  const bool own_block = encoder.statement.has("shared");
  encoder.instruction.execute = own_block ? &test_address<true> : &test_address<false>;
}

}  // namespace halfgrad::emulator
