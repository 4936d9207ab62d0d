// PTX ISA, "Warp Level Matrix Instructions: wmma.load, wmma.store" and "Matrix Storage".
//
// The warp reads or writes the rows of a row-major matrix, or the columns of a column-major one, in
// pieces of at most 16 bytes, one for each lane, as a GPU does. "Line" means such a row or column.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/matrix.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>
#include <halfgrad/emulator/simt/launch.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

/// Sources of the instruction: the address and, unless lines follow each other without a gap, the
/// leading dimension.
struct MatrixAccess {
  const FragmentLayout* layout;
  std::uint8_t bytes;  ///< bytes of an element; 4 for words of s4, u4 and b1
  /// 8 for s4 and u4, 32 for b1, else 1. The leading dimension counts elements, not words.
  std::uint8_t elements_per_word;
  bool by_row, has_stride;
  Space space;
  std::uint8_t address_bytes;

  unsigned lines() const { return by_row ? layout->rows : layout->columns; }
  unsigned line_bytes() const { return (by_row ? layout->columns : layout->rows) * bytes; }
  const std::uint16_t* places() const {
    return by_row ? layout->row_major.data() : layout->column_major.data();
  }
};

constexpr unsigned kMostMatrixBytes = 2048;

template <class T>
bool is_uniform(const T* values, LaneMask mask) {
  T difference{};
  const T first = values[first_lane(mask)];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    difference |= (mask >> lane & 1) != 0 ? values[lane] ^ first : T{};
  }
  return difference == 0;
}

struct Lines {
  std::uint64_t begin, stride;  ///< in bytes
};

/// Address of the first line and distance of the next. All lanes must agree on them, and wmma
/// demands an address that is a multiple of 32 bytes.
Lines lines_of(const Execution& execution, const Instruction& instruction,
               const MatrixAccess& access) {
  const LaneAddresses addresses = addresses_of(execution, instruction, 0, access.address_bytes);
  const unsigned first = first_lane(execution.mask);
  Lines lines{addresses[first], access.line_bytes()};
  bool uniform = is_uniform(addresses.data(), execution.mask);
  if (access.has_stride) {
    const auto* strides = execution.lanes<std::uint32_t>(instruction.source(1));
    uniform = uniform && is_uniform(strides, execution.mask);
    lines.stride = std::uint64_t{strides[first]} * access.bytes / access.elements_per_word;
  }
  if (!uniform && execution.launch->machine.settings.check_sync) {
    report(execution, instruction, first, FindingKind::warp_sync,
           "lanes give different addresses or leading dimensions of one matrix");
  }
  const unsigned alignment = std::min(access.line_bytes(), 32u);
  if (lines.begin % alignment != 0 && execution.launch->machine.settings.check_memory) {
    report(execution, instruction, first, FindingKind::misaligned,
           "expected the address of a matrix to be a multiple of " + std::to_string(alignment) +
               " bytes",
           lines.begin);
  }
  return lines;
}

/// Moves the matrix between memory and `tile`, where its lines follow each other.
void transfer(Execution& execution, const Instruction& instruction, const MatrixAccess& matrix,
              AccessKind kind, std::byte* tile) {
  const Lines lines = lines_of(execution, instruction, matrix);
  const unsigned piece = std::min(matrix.line_bytes(), 16u);
  const unsigned pieces_per_line = matrix.line_bytes() / piece;
  const unsigned pieces = matrix.lines() * pieces_per_line;
  Access access;
  access.space = matrix.space;
  access.kind = kind;
  access.bytes = static_cast<std::uint8_t>(piece);
  access.alignment = static_cast<std::uint8_t>(matrix.bytes == 8 ? 8 : piece);
  for (unsigned begin = 0; begin < pieces; begin += kWarpSize) {
    const unsigned count = std::min(pieces - begin, kWarpSize);
    Execution part = execution;
    part.mask = kAllLanes >> (kWarpSize - count);
    LaneAddresses addresses{};
    for (unsigned lane = 0; lane < count; ++lane) {
      const unsigned line = (begin + lane) / pieces_per_line;
      const unsigned in_line = (begin + lane) % pieces_per_line * piece;
      const std::uint64_t address = lines.begin + line * lines.stride + in_line;
      addresses[lane] = matrix.address_bytes == 4 ? address & 0xffffffffu : address;
    }
    std::byte* bytes = tile + begin * piece;
    const HostPointers pointers =
        resolve(part, instruction, access, addresses, kind == AccessKind::store ? bytes : nullptr);
    for (unsigned lane = 0; lane < count; ++lane, bytes += piece) {
      if (kind == AccessKind::store) {
        std::memcpy(pointers.lane[lane], bytes, piece);
      } else {
        std::memcpy(bytes, pointers.lane[lane], piece);
      }
    }
  }
}

/// Elements of T in a Word.
template <class T, class Word>
// NOLINTNEXTLINE(bugprone-sizeof-expression): the check takes any sizeof(T) / sizeof(T) for a slip
constexpr unsigned kElementsOf = sizeof(Word) / sizeof(T);

/// Registers beyond the layout's repeat the first ones.
template <class T, class Word>
void execute_load(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& matrix = instruction.options<MatrixAccess>();
  alignas(16) std::byte tile[kMostMatrixBytes];
  transfer(execution, instruction, matrix, AccessKind::load, tile);
  constexpr unsigned kElements = kElementsOf<T, Word>;
  for (unsigned i = 0; i < instruction.list.size(); ++i) {
    const std::uint16_t* place =
        matrix.places() + i % matrix.layout->registers * kElements * kWarpSize;
    Word words[kWarpSize] = {};
    for (unsigned j = 0; j < kElements; ++j, place += kWarpSize) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        T element;
        std::memcpy(&element, tile + place[lane] * sizeof(T), sizeof(T));
        words[lane] |= static_cast<Word>(static_cast<Word>(element) << (8 * sizeof(T) * j));
      }
    }
    write_lanes(execution.lanes<Word>(instruction.list[i]), words, execution.mask);
  }
}

template <class T, class Word>
void execute_store(Execution& execution, const Instruction& instruction) {
  check_whole_warp(execution, instruction);
  const auto& matrix = instruction.options<MatrixAccess>();
  alignas(16) std::byte tile[kMostMatrixBytes];
  const std::uint16_t* place = matrix.places();
  for (const Offset offset : instruction.list) {
    const Word* words = execution.lanes<Word>(offset);
    for (unsigned j = 0; j < kElementsOf<T, Word>; ++j, place += kWarpSize) {
      for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const auto element = static_cast<T>(words[lane] >> (8 * sizeof(T) * j));
        std::memcpy(tile + place[lane] * sizeof(T), &element, sizeof(T));
      }
    }
  }
  transfer(execution, instruction, matrix, AccessKind::store, tile);
}

bool is_sub_byte(Element element) { return bits_of(element) < 8; }

/// The matrix that operand `.a`, `.b`, `.c` or `.d` names, in units that loads can move: a word of
/// s4, u4 or b1 holds elements along k, in memory as in a register.
MatrixAccess matrix_of(const Encoder& encoder, MatrixRole role, Element type) {
  MatrixShape shape = shape_of(encoder);
  if (!wmma_fits(shape, role, type)) encoder.unknown("no such matrix of this type");
  MatrixAccess matrix{};
  const bool words = is_sub_byte(type);
  matrix.elements_per_word = static_cast<std::uint8_t>(words ? 32 / bits_of(type) : 1);
  matrix.bytes = static_cast<std::uint8_t>(words ? 4 : bits_of(type) / 8);
  if (words) shape.k /= matrix.elements_per_word;
  matrix.layout = &fragment_layout(role, shape, matrix.bytes < 4 ? 4u / matrix.bytes : 1);
  matrix.by_row = encoder.statement.has("row");
  if (matrix.by_row == encoder.statement.has("col")) encoder.unknown("expected .row or .col");
  if (words && matrix.by_row != (role == MatrixRole::a)) {
    encoder.unknown("expected A by row and B by column of this type");
  }
  matrix.space = space_of(encoder.statement);
  return matrix;
}

Element element_of(const Encoder& encoder) {
  Element element = Element::none;
  for (const std::string_view modifier : encoder.statement.modifiers) {
    if (element_named(modifier) != Element::none) element = element_named(modifier);
  }
  return element;
}

/// The rest of both: address, leading dimension, and the function for the size of an element.
void encode_access(Encoder& encoder, unsigned address, MatrixAccess matrix, bool load) {
  matrix.address_bytes = static_cast<std::uint8_t>(encoder.address(address));
  matrix.has_stride = encoder.operands() == 3;
  if (matrix.has_stride) encoder.source(2, Type::b32);
  all_lanes_are_members(encoder);
  Instruction& instruction = encoder.instruction;
  instruction.set_options(matrix);
  instruction.kind = load ? InstructionClass::load : InstructionClass::store;
  using Byte = std::uint8_t;
  using Half = std::uint16_t;
  using Word = std::uint32_t;
  using Long = std::uint64_t;
  switch (matrix.bytes) {
    case 1:
      instruction.execute = load ? execute_load<Byte, Word> : execute_store<Byte, Word>;
      break;
    case 2:
      instruction.execute = load ? execute_load<Half, Word> : execute_store<Half, Word>;
      break;
    case 4:
      instruction.execute = load ? execute_load<Word, Word> : execute_store<Word, Word>;
      break;
    default:
      instruction.execute = load ? execute_load<Long, Long> : execute_store<Long, Long>;
  }
}

}  // namespace

void decode_wmma_load(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (encoder.operands() != 2 && encoder.operands() != 3)
    encoder.unknown("expected r, [p], stride");
  const MatrixRole role = statement.has("a")   ? MatrixRole::a
                          : statement.has("b") ? MatrixRole::b
                                               : MatrixRole::accumulator;
  const Element type = element_of(encoder);
  const MatrixAccess matrix = matrix_of(encoder, role, type);
  const Type word = type == Element::f64 ? Type::b64 : Type::b32;
  std::vector<Offset> list;
  for (const Operand& one : registers_of(statement.operands[0])) {
    list.push_back(encoder.destination_offset(one, word));
  }
  const bool copies = type == Element::f16 && role != MatrixRole::accumulator && list.size() == 8;
  if (list.size() != matrix.layout->registers && !copies) {
    encoder.unknown("expected " + std::to_string(matrix.layout->registers) + " registers");
  }
  encoder.list(list);
  encode_access(encoder, 1, matrix, true);
}

void decode_wmma_store(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (encoder.operands() != 2 && encoder.operands() != 3)
    encoder.unknown("expected [p], r, stride");
  const Element type = element_of(encoder);
  const MatrixAccess matrix = matrix_of(encoder, MatrixRole::accumulator, type);
  const Type word = type == Element::f64 ? Type::b64 : Type::b32;
  std::vector<Offset> list;
  for (const Operand& one : registers_of(statement.operands[1])) {
    list.push_back(encoder.source_offset(one, word));
  }
  if (list.size() != matrix.layout->registers) {
    encoder.unknown("expected " + std::to_string(matrix.layout->registers) + " registers");
  }
  encoder.list(list);
  encode_access(encoder, 0, matrix, false);
}

}  // namespace halfgrad::emulator
