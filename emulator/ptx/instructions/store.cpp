// st (PTX ISA, "Data Movement and Conversion Instructions": st).
#include <atomic>
#include <cstring>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>

namespace halfgrad::emulator {
namespace {

/// Values that an instruction stores: those of each lane together, in the order of memory.
template <class E, unsigned Count>
struct Packed {
  E values[kWarpSize][Count];

  const std::byte* bytes() const { return reinterpret_cast<const std::byte*>(values); }
};

/// Writes the active lanes' values. Lanes that store to one place: the highest lane's value stays.
template <class E, unsigned Count>
void write(Execution& execution, const Instruction& instruction, const Packed<E, Count>& packed) {
  const auto& options = instruction.options<MemoryOptions>();
  const LaneAddresses addresses = addresses_of(execution, instruction, 0, options.base_bytes);
  const Access access = access_of(options, AccessKind::store, sizeof(E) * Count);
  const HostPointers to = resolve(execution, instruction, access, addresses, packed.bytes());
  // Stores that others' loads synchronise with come after the stores before.
  if (options.order != Order::weak) std::atomic_thread_fence(std::memory_order_release);
  if (to.contiguous) {
    std::memcpy(to.lane[0], packed.values, sizeof packed.values);
  } else {
    each_lane(execution.mask, [&](unsigned lane) {
      std::memcpy(to.lane[lane], packed.values[lane], sizeof packed.values[lane]);
    });
  }
}

/// Registers R are cut to elements E.
template <class E, class R>
void store(Execution& execution, const Instruction& instruction) {
  Packed<E, 1> packed;
  const R* source = execution.lanes<R>(instruction.source(1));
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    packed.values[lane][0] = static_cast<E>(source[lane]);
  }
  write(execution, instruction, packed);
}

template <class E, class R, unsigned Count>
void store_vector(Execution& execution, const Instruction& instruction) {
  Packed<E, Count> packed;
  for (unsigned i = 0; i < Count; ++i) {
    const R* source = execution.lanes<R>(instruction.list[i]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      packed.values[lane][i] = static_cast<E>(source[lane]);
    }
  }
  write(execution, instruction, packed);
}

template <class E, class R>
Execute store_of(unsigned count) {
  switch (count) {
    case 1:
      return store<E, R>;
    case 2:
      return store_vector<E, R, 2>;
    case 4:
      return store_vector<E, R, 4>;
    default:
      return store_vector<E, R, 8>;
  }
}

Execute select_store(Type type, unsigned register_bytes, unsigned count) {
  return with_element(bits_of(bytes_of(type)), [&]<class E>() -> Execute {
    return with_register(register_bytes, [&]<class R>() -> Execute {
      if constexpr (sizeof(E) > sizeof(R) || (sizeof(R) == 16) != (sizeof(E) == 16)) {
        return nullptr;
      } else {
        return store_of<E, R>(count);
      }
    });
  });
}

/// Type of an element: an immediate is converted to the type of the instruction if that has the
/// size of the registers, a register keeps its bits.
Type source_type(const Encoder& encoder, const Operand& element, Type type, unsigned bytes) {
  const bool of_register = encoder.register_bytes(element) != 0;
  return of_register || bytes_of(type) != bytes ? bits_of(bytes) : type;
}

}  // namespace

void decode_store(Encoder& encoder) {
  const MemoryForm form = memory_form(encoder);
  expect_operands_or_policy(encoder, 2);
  const auto& operands = encoder.statement.operands;
  const std::span<const Operand> elements = elements_of(operands[1]);
  const unsigned bytes = element_register_bytes(encoder, elements, form);
  MemoryOptions options{form.space, form.order, form.scope};
  options.base_bytes = static_cast<std::uint8_t>(encoder.address(0));
  if (form.count == 1) {
    encoder.source(elements[0], source_type(encoder, elements[0], form.type, bytes));
  } else {
    std::vector<Offset> list;
    for (const Operand& element : elements) {
      list.push_back(
          encoder.source_offset(element, source_type(encoder, element, form.type, bytes)));
    }
    encoder.list(list);
  }
  Instruction& instruction = encoder.instruction;
  instruction.set_options(options);
  instruction.execute = select_store(form.type, bytes, form.count);
  if (instruction.execute == nullptr) encoder.unknown("the register is smaller than the type");
  instruction.kind = InstructionClass::store;
}

}  // namespace halfgrad::emulator
