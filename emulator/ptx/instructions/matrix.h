#pragma once

#include <compare>
#include <cstdint>
#include <string_view>
#include <vector>

#include <halfgrad/emulator/memory/access.h>
#include <halfgrad/emulator/ptx/encoder.h>

namespace halfgrad::emulator {

// Decode functions of the pages mma.cpp, matrix_memory.cpp, matrix_rows.cpp and
// warpgroup_opcodes.cpp.
void decode_mma(Encoder& encoder);
void decode_wmma(Encoder& encoder);  ///< wmma.load, wmma.store, wmma.mma
void decode_wmma_load(Encoder& encoder);
void decode_wmma_store(Encoder& encoder);
void decode_ldmatrix(Encoder& encoder);
void decode_stmatrix(Encoder& encoder);
void decode_movmatrix(Encoder& encoder);
void decode_warpgroup_product(Encoder& encoder);  ///< wgmma

/// Types of matrix elements.
enum class Element : std::uint8_t {
  none,
  f16,
  bf16,
  tf32,
  f32,
  f64,
  e4m3,
  e5m2,
  s8,
  u8,
  s4,
  u4,
  b1,
  s32,
};
Element element_named(std::string_view modifier);
unsigned bits_of(Element element);
/// Whether products of the type are integers: s8, u8, s4, u4, and b1.
bool is_integer(Element element);
bool is_float8(Element element);  ///< e4m3 and e5m2

/// D = A B + C with A of m x k, B of k x n, C and D of m x n.
struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
  auto operator<=>(const MatrixShape&) const = default;  // NOLINT(modernize-use-nullptr)
};
/// The shape that a modifier such as `m16n8k16` names. Throws if there is none.
MatrixShape shape_of(const Encoder& encoder);

/// Whether wmma multiplies matrices of that type in that shape.
bool wmma_shape_fits(MatrixShape shape, Element type);

enum class MatrixRole : std::uint8_t { a, b, accumulator };

/// Whether wmma loads and stores such a matrix.
bool wmma_fits(MatrixShape shape, MatrixRole role, Element type);

/// Assignment of a matrix's elements to the lanes of a warp and their registers.
struct FragmentLayout {
  unsigned rows = 0, columns = 0;
  unsigned registers = 0, per_register = 0;
  /// Row-major and column-major index of element j of a register, at
  /// `(register_index * per_register + j) * 32 + lane`.
  std::vector<std::uint16_t> row_major, column_major;
};

/// The layout of a fragment whose registers hold `per_register` elements. It lives forever.
const FragmentLayout& fragment_layout(MatrixRole role, MatrixShape shape, unsigned per_register);

/// State space that a modifier names.
Space space_of(const Statement& statement);

/// The operand's elements if it is a vector, else the operand alone.
std::vector<Operand> registers_of(const Operand& operand);

}  // namespace halfgrad::emulator
