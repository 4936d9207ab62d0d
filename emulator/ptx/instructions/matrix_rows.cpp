// PTX ISA, "Warp Level Matrix Instructions": ldmatrix, stmatrix and movmatrix of 8 x 8 matrices of
// 16-bit elements. Lane l holds elements (l / 4, 2 (l % 4)) and the one after it in its row; with
// .trans, the rows of memory are the columns of this fragment.
#include <cstring>
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/matrix.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>

namespace halfgrad::emulator {
namespace {

struct RowsOptions {
  Space space;
  std::uint8_t address_bytes, matrices;
  bool transposed;
};

/// An 8 x 8 matrix; its rows are what one address names.
using Rows = std::uint16_t[8][8];

std::uint32_t fragment_word(const Rows& rows, unsigned lane, bool transposed) {
  const unsigned row = lane / 4, column = 2 * (lane % 4);
  const std::uint32_t low = transposed ? rows[column][row] : rows[row][column];
  const std::uint32_t high = transposed ? rows[column + 1][row] : rows[row][column + 1];
  return low | high << 16;
}

void put_fragment_word(Rows& rows, unsigned lane, bool transposed, std::uint32_t word) {
  const unsigned row = lane / 4, column = 2 * (lane % 4);
  (transposed ? rows[column][row] : rows[row][column]) = static_cast<std::uint16_t>(word);
  (transposed ? rows[column + 1][row] : rows[row][column + 1]) =
      static_cast<std::uint16_t>(word >> 16);
}

/// Lanes 0 to 7 give the addresses of the first matrix's rows, 8 to 15 those of the second, and so
/// on.
HostPointers resolve_rows(Execution& part, const Instruction& instruction, AccessKind kind,
                          const std::byte* stored) {
  const auto& options = instruction.options<RowsOptions>();
  Access access;
  access.space = options.space;
  access.kind = kind;
  access.bytes = 16;
  access.alignment = 16;
  return resolve(part, instruction, access,
                 addresses_of(part, instruction, 0, options.address_bytes), stored);
}

LaneMask lanes_with_rows(const Execution& execution, const RowsOptions& options) {
  return execution.mask & (kAllLanes >> (kWarpSize - 8u * options.matrices));
}

void execute_ldmatrix(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& options = instruction.options<RowsOptions>();
  Execution part = execution;
  part.mask = lanes_with_rows(execution, options);
  Rows matrices[4] = {};
  const HostPointers pointers = resolve_rows(part, instruction, AccessKind::load, nullptr);
  each_lane(part.mask, [&](unsigned lane) {
    std::memcpy(matrices[lane / 8][lane % 8], pointers.lane[lane], 16);
  });
  for (unsigned i = 0; i < options.matrices; ++i) {
    std::uint32_t words[kWarpSize];
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      words[lane] = fragment_word(matrices[i], lane, options.transposed);
    }
    write_lanes(execution.lanes<std::uint32_t>(instruction.list[i]), words, execution.mask);
  }
}

void execute_stmatrix(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& options = instruction.options<RowsOptions>();
  Rows matrices[4] = {};
  for (unsigned i = 0; i < options.matrices; ++i) {
    const auto* words = execution.lanes<std::uint32_t>(instruction.list[i]);
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      put_fragment_word(matrices[i], lane, options.transposed, words[lane]);
    }
  }
  Execution part = execution;
  part.mask = lanes_with_rows(execution, options);
  const auto* bytes = reinterpret_cast<const std::byte*>(matrices);
  const HostPointers pointers = resolve_rows(part, instruction, AccessKind::store, bytes);
  each_lane(part.mask, [&](unsigned lane) {
    std::memcpy(pointers.lane[lane], matrices[lane / 8][lane % 8], 16);
  });
}

/// Transposes a matrix in registers.
void execute_movmatrix(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  Rows rows = {};
  const auto* source = execution.lanes<std::uint32_t>(instruction.source(0));
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    put_fragment_word(rows, lane, false, source[lane]);
  }
  std::uint32_t words[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) words[lane] = fragment_word(rows, lane, true);
  write_lanes(execution.lanes<std::uint32_t>(instruction.operands[0]), words, execution.mask);
}

/// The part that ldmatrix and stmatrix share.
void encode_rows(Encoder& encoder, unsigned address, const std::vector<Offset>& registers) {
  const Statement& statement = encoder.statement;
  if (!statement.has("m8n8") || statement.type() != Type::b16) {
    encoder.unknown("expected .m8n8 of .b16");
  }
  RowsOptions options{};
  options.space = space_of(statement);
  options.matrices = statement.has("x4") ? 4 : statement.has("x2") ? 2 : 1;
  options.transposed = statement.has("trans");
  if (registers.size() != options.matrices) {
    encoder.unknown("expected " + std::to_string(options.matrices) + " registers");
  }
  encoder.list(registers);
  options.address_bytes = static_cast<std::uint8_t>(encoder.address(address));
  all_lanes_are_members(encoder);
  encoder.instruction.set_options(options);
}

}  // namespace

void decode_ldmatrix(Encoder& encoder) {
  if (encoder.operands() != 2) encoder.unknown("expected r, [p]");
  std::vector<Offset> registers;
  for (const Operand& one : registers_of(encoder.statement.operands[0])) {
    registers.push_back(encoder.destination_offset(one, Type::b32));
  }
  encode_rows(encoder, 1, registers);
  encoder.instruction.kind = InstructionClass::load;
  encoder.instruction.execute = execute_ldmatrix;
}

void decode_stmatrix(Encoder& encoder) {
  if (encoder.operands() != 2) encoder.unknown("expected [p], r");
  std::vector<Offset> registers;
  for (const Operand& one : registers_of(encoder.statement.operands[1])) {
    registers.push_back(encoder.source_offset(one, Type::b32));
  }
  encode_rows(encoder, 0, registers);
  encoder.instruction.kind = InstructionClass::store;
  encoder.instruction.execute = execute_stmatrix;
}

void decode_movmatrix(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (!statement.has("m8n8") || !statement.has("trans") || statement.type() != Type::b16 ||
      encoder.operands() != 2) {
    encoder.unknown("expected movmatrix.sync.aligned.m8n8.trans.b16 d, a");
  }
  encoder.destination(0, Type::b32);
  encoder.source(1, Type::b32);
  all_lanes_are_members(encoder);
  encoder.instruction.kind = InstructionClass::warp;
  encoder.instruction.execute = execute_movmatrix;
}

}  // namespace halfgrad::emulator
