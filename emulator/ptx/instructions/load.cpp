// ld, ldu (PTX ISA, "Data Movement and Conversion Instructions": ld, ld.global.nc, ldu).
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include <halfgrad/emulator/memory/observation.h>
#include <halfgrad/emulator/ptx/instructions/memory_decoders.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

template <class E>
E read_element(const std::byte* from) {
  E value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// A load that was resolved. Its result may overwrite the register of the address.
struct Located {
  Access access;
  LaneAddresses addresses;
  HostPointers from;
};

Located locate(Execution& execution, const Instruction& instruction, unsigned bytes) {
  const auto& options = instruction.options<MemoryOptions>();
  Located located{access_of(options, AccessKind::load, bytes),
                  addresses_of(execution, instruction, 0, options.base_bytes),
                  {}};
  located.from = resolve(execution, instruction, located.access, located.addresses);
  return located;
}

/// Loads that others' stores synchronise with come before the loads that follow.
void order_after(Execution& execution, const Instruction& instruction, const Located& located) {
  if (located.access.order == Order::weak) return;
  std::atomic_thread_fence(std::memory_order_acquire);
  observe_value(execution, instruction, located.access, located.addresses, located.from);
}

/// One element E into a register R. Narrow integers are extended with their sign, or with zeros.
template <class E, class R>
void load(Execution& execution, const Instruction& instruction) {
  const Located located = locate(execution, instruction, sizeof(E));
  const HostPointers& from = located.from;
  R* result = execution.lanes<R>(instruction.operands[0]);
  if (from.contiguous) {
    E values[kWarpSize];
    std::memcpy(values, from.lane[0], sizeof values);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) result[lane] = static_cast<R>(values[lane]);
  } else {
    each_lane(execution.mask, [&](unsigned lane) {
      result[lane] = static_cast<R>(read_element<E>(from.lane[lane]));
    });
  }
  order_after(execution, instruction, located);
}

/// A vector of Count elements E, each into a register R.
template <class E, class R, unsigned Count>
void load_vector(Execution& execution, const Instruction& instruction) {
  const Located located = locate(execution, instruction, sizeof(E) * Count);
  const HostPointers& from = located.from;
  for (unsigned i = 0; i < Count; ++i) {
    R* result = execution.lanes<R>(instruction.list[i]);
    const std::size_t offset = i * sizeof(E);
    if (execution.mask == kAllLanes) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        result[lane] = static_cast<R>(read_element<E>(from.lane[lane] + offset));
      }
    } else {
      each_lane(execution.mask, [&](unsigned lane) {
        result[lane] = static_cast<R>(read_element<E>(from.lane[lane] + offset));
      });
    }
  }
  order_after(execution, instruction, located);
}

/// A kernel's parameter: all lanes read the same place of the launch's buffer.
template <class E, class R>
void load_parameter(Execution& execution, const Instruction& instruction) {
  const auto base = *execution.lanes<std::uint64_t>(instruction.source(0));
  const std::uint64_t offset = base + static_cast<std::uint64_t>(instruction.immediate);
  const std::size_t size = execution.frame->function->launch_parameter_bytes;
  if (offset > size || sizeof(E) > size - offset) return load<E, R>(execution, instruction);
  const R value = static_cast<R>(read_element<E>(execution.launch->request.parameters + offset));
  R* result = execution.lanes<R>(instruction.operands[0]);
  if (execution.mask == kAllLanes) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) result[lane] = value;
  } else {
    each_lane(execution.mask, [&](unsigned lane) { result[lane] = value; });
  }
}

/// `count` 0 stands for a kernel's parameter.
template <class E, class R>
Execute load_of(unsigned count) {
  switch (count) {
    case 0:
      return load_parameter<E, R>;
    case 1:
      return load<E, R>;
    case 2:
      return load_vector<E, R, 2>;
    case 4:
      return load_vector<E, R, 4>;
    default:
      return load_vector<E, R, 8>;
  }
}

Execute select_load(Type type, unsigned register_bytes, unsigned count) {
  return with_element(type, [&]<class E>() -> Execute {
    return with_register(register_bytes, [&]<class R>() -> Execute {
      if constexpr (sizeof(E) > sizeof(R) || (sizeof(R) == 16) != (sizeof(E) == 16)) {
        return nullptr;
      } else {
        return load_of<E, R>(count);
      }
    });
  });
}

/// Whether the address is that of a symbol, so that all lanes have it.
bool is_symbol(const Operand& address) {
  return address.kind == Operand::Kind::address && !address.parts.empty() &&
         address.parts[0].kind == Operand::Kind::symbol;
}

}  // namespace

void decode_load(Encoder& encoder) {
  const MemoryForm form = memory_form(encoder);
  expect_operands_or_policy(encoder, 2);
  const auto& operands = encoder.statement.operands;
  const std::span<const Operand> elements = elements_of(operands[0]);
  const unsigned bytes = element_register_bytes(encoder, elements, form);
  Instruction& instruction = encoder.instruction;
  if (form.count == 1) {
    encoder.destination(elements[0], bits_of(bytes));
  } else {
    std::vector<Offset> list;
    for (const Operand& element : elements) {
      list.push_back(encoder.destination_offset(element, bits_of(bytes)));
    }
    encoder.list(list);
  }
  MemoryOptions options{form.space, form.order, form.scope};
  options.base_bytes = static_cast<std::uint8_t>(encoder.address(1));
  if (encoder.statement.has("nc")) options.path = AccessPath::read_only;
  instruction.set_options(options);
  const bool parameter = form.space == Space::parameter && form.count == 1 &&
                         options.base_bytes == 8 && is_symbol(operands[1]);
  instruction.execute = select_load(form.type, bytes, parameter ? 0 : form.count);
  if (instruction.execute == nullptr) encoder.unknown("the register is smaller than the type");
  instruction.kind = InstructionClass::load;
  // Spin loops read again and again: let the warps that they wait for run.
  if (form.order != Order::weak) instruction.control = Control::pause;
}

}  // namespace halfgrad::emulator
