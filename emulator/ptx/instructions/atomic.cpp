// atom, red (PTX ISA, "Parallel Synchronization and Communication Instructions": atom, red).
#include <string>
#include <utility>
#include <vector>

#include <halfgrad/emulator/memory/observation.h>
#include <halfgrad/emulator/ptx/instructions/atomic_operations.h>
#include <halfgrad/emulator/ptx/instructions/atomic_place.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/ptx/instructions/reductions.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

struct AtomicOptions : MemoryOptions {
  std::uint8_t count = 1;      ///< elements of a vector
  bool returns_value = false;  ///< atom; red has no destination
};

/// Operands are in `list` for a vector: first its destinations, then its sources.
Offset destination_of(const Instruction& instruction, const AtomicOptions& options, unsigned i) {
  return options.count == 1 ? instruction.operands[0] : instruction.list[i];
}
Offset operand_of(const Instruction& instruction, const AtomicOptions& options, unsigned i) {
  if (options.count == 1) return instruction.source(1);
  return instruction.list[(options.returns_value ? options.count : 0u) + i];
}

/// Lanes whose address is in global memory, where f32 sums flush subnormal values.
LaneMask lanes_in_global(const MemoryOptions& options, const LaneAddresses& addresses) {
  if (options.space == Space::global) return kAllLanes;
  LaneMask global = 0;
  if (options.space != Space::generic) return global;
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    global |= LaneMask{(addresses[lane] & kWindowMask) == 0} << lane;
  }
  return global;
}

/// Lanes update one after the other, lowest first. `update(i, lane, old, flush)` gives the new bits
/// of element i.
template <class Bits, class Update>
void each_atomic(Execution& execution, const Instruction& instruction, Update update) {
  const auto& options = instruction.options<AtomicOptions>();
  const LaneAddresses addresses = addresses_of(execution, instruction, 0, options.base_bytes);
  const Access access = access_of(options, AccessKind::atomic, sizeof(Bits) * options.count);
  const HostPointers places = resolve(execution, instruction, access, addresses);
  const LaneMask flushed = lanes_in_global(options, addresses);
  const bool of_one_thread = options.space == Space::shared;
  for (unsigned i = 0; i < options.count; ++i) {
    const Offset destination = destination_of(instruction, options, i);
    each_lane(execution.mask, [&](unsigned lane) {
      std::byte* place = places.lane[lane] + i * sizeof(Bits);
      const bool flush = (flushed >> lane & 1) != 0;
      bool changes = false;
      const Bits before = replace<Bits>(place, of_one_thread, [&](Bits old) {
        const Bits updated = update(i, lane, old, flush);
        changes = updated != old;
        return updated;
      });
      execution.block->changes += changes ? 1 : 0;
      if (options.returns_value) execution.lanes<Bits>(destination)[lane] = before;
    });
  }
  observe_value(execution, instruction, access, addresses, places);
}

template <AtomicOperation Op, class T, class Bits>
void atomic(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<AtomicOptions>();
  each_atomic<Bits>(execution, instruction, [&](unsigned i, unsigned lane, Bits old, bool flush) {
    const Offset operand = operand_of(instruction, options, i);
    const Bits bits = execution.lanes<Bits>(operand)[lane];
    if constexpr (Op == AtomicOperation::exchange) {
      return bits;
    } else {
      return result_bits<Bits>(combine<Op>(std::bit_cast<T>(old), std::bit_cast<T>(bits), flush));
    }
  });
}

template <class Bits>
void compare_and_swap(Execution& execution, const Instruction& instruction) {
  const Bits* expected = execution.lanes<Bits>(instruction.source(1));
  const Bits* desired = execution.lanes<Bits>(instruction.source(2));
  each_atomic<Bits>(execution, instruction, [&](unsigned, unsigned lane, Bits old, bool) {
    return old == expected[lane] ? desired[lane] : old;
  });
}

// ---- Choosing a function by operation and type; nullptr: PTX has no such form

template <class T, class Bits>
Execute arithmetic(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::add:
      return atomic<AtomicOperation::add, T, Bits>;
    case AtomicOperation::min:
      return atomic<AtomicOperation::min, T, Bits>;
    case AtomicOperation::max:
      return atomic<AtomicOperation::max, T, Bits>;
    default:
      return nullptr;
  }
}

template <class Bits>
Execute bitwise(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::bitwise_and:
      return atomic<AtomicOperation::bitwise_and, Bits, Bits>;
    case AtomicOperation::bitwise_or:
      return atomic<AtomicOperation::bitwise_or, Bits, Bits>;
    case AtomicOperation::bitwise_xor:
      return atomic<AtomicOperation::bitwise_xor, Bits, Bits>;
    case AtomicOperation::exchange:
      return atomic<AtomicOperation::exchange, Bits, Bits>;
    case AtomicOperation::compare_and_swap:
      return compare_and_swap<Bits>;
    default:
      return nullptr;
  }
}

Execute wrapping(AtomicOperation operation) {
  using U32 = std::uint32_t;
  switch (operation) {
    case AtomicOperation::increment:
      return atomic<AtomicOperation::increment, U32, U32>;
    case AtomicOperation::decrement:
      return atomic<AtomicOperation::decrement, U32, U32>;
    default:
      return arithmetic<U32, U32>(operation);
  }
}

Execute select_16_or_128(AtomicOperation operation, Type type) {
  const bool swap = operation == AtomicOperation::compare_and_swap;
  if (type == Type::b16) return swap ? compare_and_swap<std::uint16_t> : nullptr;
  if (swap) return compare_and_swap<Bits128>;
  const bool exchange = operation == AtomicOperation::exchange;
  return exchange ? atomic<AtomicOperation::exchange, Bits128, Bits128> : nullptr;
}

Execute select(AtomicOperation operation, Type type) {
  switch (type) {
    case Type::b16:
    case Type::b128:
      return select_16_or_128(operation, type);
    case Type::b32:
      return bitwise<std::uint32_t>(operation);
    case Type::b64:
      return bitwise<std::uint64_t>(operation);
    case Type::u32:
      return wrapping(operation);
    case Type::s32:
      return arithmetic<std::int32_t, std::uint32_t>(operation);
    case Type::u64:
      return arithmetic<std::uint64_t, std::uint64_t>(operation);
    case Type::s64:
      return arithmetic<std::int64_t, std::uint64_t>(operation);
    case Type::f16:
      return arithmetic<Half<F16>, std::uint16_t>(operation);
    case Type::bf16:
      return arithmetic<Half<BF16>, std::uint16_t>(operation);
    case Type::f16x2:
      return arithmetic<HalfPair<F16>, std::uint32_t>(operation);
    case Type::bf16x2:
      return arithmetic<HalfPair<BF16>, std::uint32_t>(operation);
    case Type::f32:
      return arithmetic<float, std::uint32_t>(operation);
    case Type::f64:
      return arithmetic<double, std::uint64_t>(operation);
    default:
      return nullptr;
  }
}

/// Appends destinations and sources; returns the bytes of the address' base.
unsigned encode_operands(Encoder& encoder, const MemoryForm& form, bool returns_value, bool swaps) {
  const auto& operands = encoder.statement.operands;
  const unsigned address = returns_value ? 1 : 0;
  const Type bits = bits_of(bytes_of(form.type));
  if (form.count == 1) {
    if (returns_value) encoder.destination(elements_of(operands[0])[0], bits);
    const unsigned base_bytes = encoder.address(address);
    encoder.source(address + 1, form.type);
    if (swaps) encoder.source(address + 2, form.type);
    return base_bytes;
  }
  const unsigned base_bytes = encoder.address(address);
  std::vector<Offset> list;
  if (returns_value) {
    for (const Operand& element : elements_of(operands[0])) {
      list.push_back(encoder.destination_offset(element, bits));
    }
  }
  for (const Operand& element : elements_of(operands[address + 1])) {
    list.push_back(encoder.source_offset(element, form.type));
  }
  if (list.size() != form.count * (returns_value ? 2u : 1u)) {
    encoder.unknown("expected as many registers as the vector has elements");
  }
  encoder.list(list);
  return base_bytes;
}

/// Spin loops try to take a lock, or read by adding 0: let the warps that they wait for run.
bool may_spin(AtomicOperation operation, const Operand& operand) {
  const bool reads = operand.kind == Operand::Kind::immediate && operand.bits == 0;
  return reads || operation == AtomicOperation::exchange ||
         operation == AtomicOperation::compare_and_swap;
}

}  // namespace

void decode_atomic(Encoder& encoder) {
  static constexpr std::string_view kOthers[] = {"add", "min", "max",  "and", "or",   "xor",
                                                 "inc", "dec", "exch", "cas", "noftz"};
  const MemoryForm form = memory_form(encoder, kOthers);
  const AtomicOperation operation = atomic_operation_of(encoder);
  const bool returns_value = encoder.statement.opcode == "atom";
  const bool swaps = operation == AtomicOperation::compare_and_swap;
  expect_operands_or_policy(encoder, (returns_value ? 3u : 2u) + (swaps ? 1u : 0u));

  Instruction& instruction = encoder.instruction;
  instruction.execute = select(operation, form.type);
  if (instruction.execute == nullptr || (swaps && form.count > 1) ||
      bytes_of(form.type) * form.count > 16) {
    encoder.unknown("unknown type of this atomic operation");
  }
  AtomicOptions options;
  options.space = form.space;
  options.order = form.order == Order::weak ? Order::relaxed : form.order;
  options.scope = form.scope;
  options.count = form.count;
  options.returns_value = returns_value;
  options.base_bytes =
      static_cast<std::uint8_t>(encode_operands(encoder, form, returns_value, swaps));
  instruction.set_options(options);
  instruction.kind = InstructionClass::atomic;
  const Operand& value = encoder.statement.operands[returns_value ? 2 : 1];
  if (may_spin(operation, value)) instruction.control = Control::pause;
}

void mark_plain_exchange(Instruction& instruction) {
  AtomicOptions options = instruction.options<AtomicOptions>();
  options.overwrites = true;
  instruction.set_options(options);
}

}  // namespace halfgrad::emulator
