#include <halfgrad/emulator/ptx/encoder.h>

#include <bit>
#include <optional>

#include <halfgrad/emulator/ptx/function_builder.h>
#include <halfgrad/emulator/simt/lanes.h>

namespace halfgrad::emulator {
namespace {

bool is_sixteen_bit_float(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f16x2 || type == Type::bf16x2;
}

/// The bits of an immediate as a value of `type`, or nothing if it has none.
std::optional<std::uint64_t> immediate_bits(const Operand& operand, Type type) {
  if (operand.literal == Operand::Literal::integer) {
    const auto value = static_cast<std::int64_t>(operand.bits);
    if (type == Type::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(value));
    if (type == Type::f64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
    return operand.bits;
  }
  const bool single = operand.literal == Operand::Literal::f32;
  if (is_sixteen_bit_float(type)) return std::nullopt;
  const unsigned bytes = bytes_of(type);
  if ((single && bytes == 4) || (!single && bytes == 8)) return operand.bits;
  if (type == Type::f32) {
    const auto value = static_cast<float>(std::bit_cast<double>(operand.bits));
    return std::bit_cast<std::uint32_t>(value);
  }
  if (type == Type::f64) {
    const double value = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    return std::bit_cast<std::uint64_t>(value);
  }
  return std::nullopt;
}

void append(Instruction& instruction, Offset offset, const Encoder& encoder) {
  const unsigned count = instruction.destinations + instruction.sources;
  if (count == instruction.operands.size()) encoder.unknown("too many operands");
  instruction.operands[count] = offset;
}

const Operand& operand_at(const Encoder& encoder, unsigned i) {
  if (i >= encoder.operands()) {
    encoder.unknown("expected at least " + std::to_string(i + 1) + " operands, got " +
                    std::to_string(encoder.operands()));
  }
  return encoder.statement.operands[i];
}

}  // namespace

void Encoder::unknown(const std::string& why) const { throw UnknownInstruction(why); }

void Encoder::destination(unsigned i, Type type) { destination(operand_at(*this, i), type); }

void Encoder::source(unsigned i, Type type) { source(operand_at(*this, i), type); }

void Encoder::destination(const Operand& operand, Type type) {
  if (instruction.sources != 0) {
    throw std::logic_error("the page of " + std::string(statement.opcode) +
                           " names a destination after a source");
  }
  append(instruction, destination_offset(operand, type), *this);
  ++instruction.destinations;
}

void Encoder::source(const Operand& operand, Type type) {
  append(instruction, source_offset(operand, type), *this);
  ++instruction.sources;
}

void Encoder::operands_of(Type result, std::initializer_list<Type> sources) {
  if (operands() != 1 + sources.size()) {
    unknown("expected " + std::to_string(1 + sources.size()) + " operands, got " +
            std::to_string(operands()));
  }
  destination(0, result);
  unsigned i = 1;
  for (const Type type : sources) source(i++, type);
}

unsigned Encoder::address(unsigned i) { return address(operand_at(*this, i)); }

unsigned Encoder::address(const Operand& operand) {
  if (operand.kind != Operand::Kind::address) unknown("expected an address in brackets");
  const Operand& base = operand.parts.front();
  instruction.immediate = operand.offset;
  Offset offset = 0;
  unsigned bytes = 8;
  if (base.kind == Operand::Kind::reg) {
    bytes = register_bytes(base);
    if (bytes != 4 && bytes != 8) unknown("expected an address of 32 or 64 bits");
    offset = source_offset(base, bytes == 4 ? Type::b32 : Type::b64);
  } else if (base.kind == Operand::Kind::immediate) {
    instruction.immediate += static_cast<std::int64_t>(base.bits);
    offset = constant(Type::b64, 0);
  } else if (base.kind == Operand::Kind::symbol) {
    const SymbolAddress symbol = function_.address_of(base.name);
    instruction.immediate += base.offset + static_cast<std::int64_t>(symbol.value);
    offset = symbol.base ? function_.special(*symbol.base, 8) : constant(Type::b64, 0);
  } else {
    unknown("expected an address");
  }
  append(instruction, offset, *this);
  ++instruction.sources;
  return bytes;
}

void Encoder::list(std::span<const Offset> offsets) { instruction.list = function_.keep(offsets); }

Offset Encoder::destination_offset(const Operand& operand, Type type) {
  const unsigned bytes = slot_bytes(type);
  Offset slot = 0;
  if (type == Type::none) unknown("expected a type");
  if (operand.kind == Operand::Kind::sink) {
    slot = function_.scratch(bytes);
  } else if (operand.kind == Operand::Kind::reg && operand.name.empty()) {
    slot = operand.index;
    const unsigned held = function_.slots[slot].bytes;
    if (held != bytes && !(bytes_of(type) == 1 && held >= 2)) {
      unknown("expected a destination of another size");
    }
  } else {
    unknown("expected a register as the destination");
  }
  function_.define(slot);
  return slot;
}

Offset Encoder::source_offset(const Operand& operand, Type type) {
  const unsigned bytes = slot_bytes(type);
  if (type == Type::none) unknown("expected a type");
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const unsigned held = function_.slots[operand.index].bytes;
      if (held != bytes && !(bytes_of(type) == 1 && held >= 2)) {
        unknown("expected a source of another size");
      }
      if (!operand.name.empty()) unknown("a part of a register");
      function_.use(operand.index);
      return operand.index;
    }
    case Operand::Kind::immediate: {
      const auto bits = immediate_bits(operand, type);
      if (!bits) unknown("expected an immediate of another type");
      return constant(type, *bits);
    }
    case Operand::Kind::special: {
      if (const auto clock = clock_named(operand.name)) {
        if (bytes_of(*clock) != bytes) unknown("expected a special register of another size");
        const Offset slot = function_.clock(*clock);
        function_.use(slot);
        return slot;
      }
      const auto special = special_named(operand.name);
      if (!special) unknown("unknown register " + std::string(operand.name));
      // A predicate is one mask of lanes, the first of the special register's 32 values.
      if (special == Special::is_explicit_cluster && bytes == 0) {
        return function_.special(*special, sizeof(LaneMask));
      }
      if (bytes != 4 && bytes != 8) unknown("expected a special register of another size");
      return function_.special(*special, bytes);
    }
    case Operand::Kind::symbol: {
      if (bytes != 4 && bytes != 8) unknown("expected an address of 32 or 64 bits");
      const SymbolAddress symbol = function_.address_of(operand.name);
      const std::uint64_t value = symbol.value + static_cast<std::uint64_t>(operand.offset);
      return symbol.base ? function_.special(*symbol.base, bytes, value) : constant(type, value);
    }
    default:
      unknown("expected a source of another kind");
  }
}

Offset Encoder::constant(Type type, std::uint64_t bits) { return function_.constant(type, bits); }

unsigned Encoder::register_bytes(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg ? function_.slots[operand.index].bytes : 0;
}

Offset Encoder::carry() {
  const Offset slot = function_.carry();
  function_.use(slot);
  function_.define(slot);
  return slot;
}

}  // namespace halfgrad::emulator
