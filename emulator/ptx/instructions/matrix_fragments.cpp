// PTX ISA, "Warp Level Matrix Instructions": the sections "Matrix Fragments for mma.m16n8k16" and
// its like. Fragments of wmma have no documented layout; they use the same one, in several tiles.
#include <cstdio>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include <halfgrad/emulator/ptx/instructions/matrix.h>

namespace halfgrad::emulator {
namespace {

struct Place {
  unsigned row, column;
};

/// One formula for every shape. With g = lane / 4, t = lane % 4 and r elements a register, a
/// register of A or B holds r elements that follow each other along k, and a tile of A has 8 rows:
///
///     A: row g,              column 4 r block + r t + j    registers: row halves, blocks, row
///     tiles B: row 4 r block + r t + j,  column g                registers: blocks, column tiles
///     C: row g,              column 2 t + j                pairs: row halves, column tiles, row
///     tiles
///
/// For m16n8k16 of f16, r is 2: registers 0 to 3 of A are the quarters (0,0), (8,0), (0,8), (8,8).
Place place_of_element(MatrixRole role, MatrixShape shape, unsigned r, unsigned lane,
                       unsigned element) {
  const unsigned g = lane / 4, t = lane % 4;
  const unsigned halves = shape.m >= 16 ? 2 : 1;
  if (role == MatrixRole::accumulator) {
    const unsigned pair = element / 2, tiles = shape.n / 8;
    const unsigned half = pair % halves, tile = pair / halves % tiles;
    return {pair / (halves * tiles) * 16 + half * 8 + g, tile * 8 + 2 * t + element % 2};
  }
  const unsigned blocks = shape.k / (4 * r);
  const unsigned i = element / r, along_k = r * t + element % r;
  if (role == MatrixRole::b) return {i % blocks * 4 * r + along_k, i / blocks * 8 + g};
  const unsigned half = i % halves, block = i / halves % blocks;
  return {i / (halves * blocks) * 16 + half * 8 + g, block * 4 * r + along_k};
}

FragmentLayout make_layout(MatrixRole role, MatrixShape shape, unsigned per_register) {
  FragmentLayout layout;
  layout.rows = role == MatrixRole::b ? shape.k : shape.m;
  layout.columns = role == MatrixRole::a ? shape.k : shape.n;
  layout.per_register = per_register;
  const unsigned elements = layout.rows * layout.columns / kWarpSize;
  layout.registers = elements / per_register;
  for (unsigned element = 0; element < elements; ++element) {
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
      const Place place = place_of_element(role, shape, per_register, lane, element);
      layout.row_major.push_back(
          static_cast<std::uint16_t>(place.row * layout.columns + place.column));
      layout.column_major.push_back(
          static_cast<std::uint16_t>(place.column * layout.rows + place.row));
    }
  }
  return layout;
}

}  // namespace

const FragmentLayout& fragment_layout(MatrixRole role, MatrixShape shape, unsigned per_register) {
  static std::mutex mutex;
  static std::map<std::tuple<MatrixRole, MatrixShape, unsigned>, FragmentLayout> layouts;
  const std::lock_guard lock(mutex);
  const auto key = std::make_tuple(role, shape, per_register);
  auto found = layouts.find(key);
  if (found == layouts.end()) {
    found = layouts.emplace(key, make_layout(role, shape, per_register)).first;
  }
  return found->second;
}

Element element_named(std::string_view modifier) {
  constexpr std::pair<std::string_view, Element> kNames[] = {
      {"f16", Element::f16},   {"bf16", Element::bf16}, {"tf32", Element::tf32},
      {"f32", Element::f32},   {"f64", Element::f64},   {"e4m3", Element::e4m3},
      {"e5m2", Element::e5m2}, {"s8", Element::s8},     {"u8", Element::u8},
      {"s4", Element::s4},     {"u4", Element::u4},     {"b1", Element::b1},
      {"s32", Element::s32}};
  for (const auto& [name, element] : kNames) {
    if (name == modifier) return element;
  }
  return Element::none;
}

unsigned bits_of(Element element) {
  switch (element) {
    case Element::b1:
      return 1;
    case Element::s4:
    case Element::u4:
      return 4;
    case Element::s8:
    case Element::u8:
    case Element::e4m3:
    case Element::e5m2:
      return 8;
    case Element::f16:
    case Element::bf16:
      return 16;
    case Element::f64:
      return 64;
    default:
      return 32;
  }
}

bool is_integer(Element element) {
  return element == Element::s8 || element == Element::u8 || element == Element::s4 ||
         element == Element::u4 || element == Element::b1;
}

bool is_float8(Element element) { return element == Element::e4m3 || element == Element::e5m2; }

MatrixShape shape_of(const Encoder& encoder) {
  for (const std::string_view modifier : encoder.statement.modifiers) {
    MatrixShape shape;
    const std::string text(modifier);
    if (std::sscanf(text.c_str(), "m%un%uk%u", &shape.m, &shape.n, &shape.k) == 3) return shape;
  }
  encoder.unknown("expected a shape such as m16n8k16");
}

bool wmma_shape_fits(MatrixShape shape, Element type) {
  switch (type) {
    case Element::tf32:
      return shape == MatrixShape{16, 16, 8};
    case Element::f64:
      return shape == MatrixShape{8, 8, 4};
    case Element::s4:
    case Element::u4:
      return shape == MatrixShape{8, 8, 32};
    case Element::b1:
      return shape == MatrixShape{8, 8, 128};
    default:
      return shape == MatrixShape{16, 16, 16} || shape == MatrixShape{8, 32, 16} ||
             shape == MatrixShape{32, 8, 16};
  }
}

bool wmma_fits(MatrixShape shape, MatrixRole role, Element type) {
  if (role != MatrixRole::accumulator) {
    return type != Element::none && type != Element::f32 && type != Element::s32 &&
           type != Element::e4m3 && type != Element::e5m2 && wmma_shape_fits(shape, type);
  }
  switch (type) {
    case Element::f16:
      return wmma_shape_fits(shape, Element::f16);
    case Element::f32:
      return wmma_shape_fits(shape, Element::f16) || wmma_shape_fits(shape, Element::tf32);
    case Element::f64:
      return wmma_shape_fits(shape, Element::f64);
    case Element::s32:
      return wmma_shape_fits(shape, Element::s8) || wmma_shape_fits(shape, Element::s4) ||
             wmma_shape_fits(shape, Element::b1);
    default:
      return false;
  }
}

Space space_of(const Statement& statement) {
  if (statement.has("shared")) return Space::shared;
  if (statement.has("global")) return Space::global;
  return Space::generic;
}

std::vector<Operand> registers_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {operand};
}

}  // namespace halfgrad::emulator
