// PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions": forms of wgmma.
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/matrix.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>
#include <halfgrad/emulator/ptx/instructions/warpgroup_product.h>

namespace halfgrad::emulator {
namespace {

/// Whether wgmma multiplies these types.
bool types_fit(const Product& block) {
  switch (block.a) {
    case Element::f16:
      return block.b == Element::f16 && (block.d == Element::f16 || block.d == Element::f32);
    case Element::bf16:
    case Element::tf32:
      return block.b == block.a && block.d == Element::f32;
    case Element::e4m3:
    case Element::e5m2:
      return is_float8(block.b) && (block.d == Element::f16 || block.d == Element::f32);
    case Element::s8:
    case Element::u8:
      return (block.b == Element::s8 || block.b == Element::u8) && block.d == Element::s32;
    case Element::b1:
      return block.b == Element::b1 && block.d == Element::s32;
    default:
      return false;
  }
}

/// 64 rows, a row of A of 32 bytes, and columns in steps of 8; integers and b1 leave some out.
bool shape_fits(MatrixShape shape, Element type) {
  if (shape.m != 64 || shape.k != 256 / bits_of(type)) return false;
  if (shape.n < 8 || shape.n > 256 || shape.n % 8 != 0) return false;
  return !is_integer(type) || shape.n <= 24 || shape.n == 32 || shape.n % 16 == 0;
}

/// An equal form that lives forever.
const WarpgroupProduct* shared_form(const WarpgroupProduct& form) {
  static std::mutex mutex;
  static std::deque<WarpgroupProduct> forms;
  const std::lock_guard lock(mutex);
  for (const WarpgroupProduct& one : forms) {
    if (one == form) return &one;
  }
  return &forms.emplace_back(form);
}

/// Types in the order D, A, B.
Product block_of(const Encoder& encoder) {
  std::vector<Element> types;
  for (const std::string_view modifier : encoder.statement.modifiers) {
    const Element element = element_named(modifier);
    if (element != Element::none) types.push_back(element);
  }
  if (types.size() != 3) encoder.unknown("expected types of d, a and b");
  Product block{};
  block.d = block.c = types[0], block.a = types[1], block.b = types[2];
  if (!types_fit(block)) encoder.unknown("no product of these types");
  const MatrixShape shape = shape_of(encoder);
  if (!shape_fits(shape, block.a)) encoder.unknown("no such shape of this type");
  block.shape = {16, 8, shape.k};
  block.saturate = encoder.statement.has("satfinite");
  if (block.saturate && (!is_integer(block.a) || block.a == Element::b1)) {
    encoder.unknown("no .satfinite of this type");
  }
  if (block.a == Element::b1 && (!encoder.statement.has("and") || !encoder.statement.has("popc"))) {
    encoder.unknown("expected .and.popc");
  }
  const auto per_register = [](Element type) {
    return type == Element::b1 ? 1u : 32 / bits_of(type);
  };
  MatrixShape words = block.shape;  // a register of b1 is one word of a matrix of words
  if (block.a == Element::b1) words.k /= 32;
  block.layout_a = &fragment_layout(MatrixRole::a, words, per_register(block.a));
  block.layout_d = &fragment_layout(MatrixRole::accumulator, words, per_register(block.d));
  return block;
}

/// The constant in operand i.
std::int64_t constant(const Encoder& encoder, unsigned i) {
  const Operand& operand = encoder.statement.operands.at(i);
  if (operand.kind != Operand::Kind::immediate) encoder.unknown("expected a constant operand");
  return static_cast<std::int64_t>(operand.bits);
}

/// A factor of an operand: 1 or -1.
bool is_negated(const Encoder& encoder, unsigned i) {
  const auto scale = static_cast<std::int32_t>(constant(encoder, i));
  if (scale != 1 && scale != -1) encoder.unknown("expected a factor of 1 or -1");
  return scale == -1;
}

Major major_of(const Encoder& encoder, unsigned i) {
  const std::int64_t transposed = constant(encoder, i);
  if (transposed != 0 && transposed != 1) encoder.unknown("expected 0 or 1 for transposed");
  return transposed == 1 ? Major::mn : Major::k;
}

ScaleD encode_scale_d(Encoder& encoder, Operand operand) {
  if (operand.kind == Operand::Kind::immediate) {
    return operand.bits != 0 ? ScaleD::one : ScaleD::zero;
  }
  const bool negated = operand.negated;
  operand.negated = false;
  encoder.source(operand, Type::pred);
  return negated ? ScaleD::negated_predicate : ScaleD::predicate;
}

void append_registers(Encoder& encoder, const Operand& operand, std::size_t expected, bool written,
                      std::vector<Offset>& list) {
  const std::vector<Operand> registers = registers_of(operand);
  if (registers.size() != expected) {
    encoder.unknown("expected " + std::to_string(expected) + " registers, got " +
                    std::to_string(registers.size()));
  }
  for (const Operand& one : registers) {
    list.push_back(encoder.source_offset(one, Type::b32));
    if (written) encoder.destination_offset(one, Type::b32);
  }
}

/// wgmma.mma_async.sync.aligned.shape.dtype.atype.btype d, a, b, scale-d, then for floating-point
/// types imm-scale-a, imm-scale-b, and for 16-bit ones imm-trans-a (if a is a descriptor),
/// imm-trans-b.
void decode_product(Encoder& encoder) {
  if (encoder.statement.has("sp")) encoder.unknown("no products with .sp");
  WarpgroupProduct form;
  form.block = block_of(encoder);
  form.blocks = shape_of(encoder).n / 8;
  const auto& operands = encoder.statement.operands;
  const bool has_scales = !is_integer(form.block.a);
  const bool has_majors = bits_of(form.block.a) == 16;
  if (operands.size() < 4) encoder.unknown("expected d, a, b and scale-d");
  form.a_in_registers = operands[1].kind == Operand::Kind::vector;
  const std::size_t expected =
      4u + (has_scales ? 2 : 0) + (has_majors ? (form.a_in_registers ? 1 : 2) : 0);
  if (operands.size() != expected) {
    encoder.unknown("expected " + std::to_string(expected) + " operands");
  }
  if (has_scales) {
    form.negates_a = is_negated(encoder, 4);
    form.negates_b = is_negated(encoder, 5);
  }
  if (has_majors) {
    if (!form.a_in_registers) form.major_a = major_of(encoder, 6);
    form.major_b = major_of(encoder, static_cast<unsigned>(expected) - 1);
  }
  std::vector<Offset> list;
  append_registers(encoder, operands[0], std::size_t{form.blocks} * form.block.layout_d->registers,
                   true, list);
  if (form.a_in_registers) {
    append_registers(encoder, operands[1], form.block.layout_a->registers, false, list);
  }
  encoder.list(list);
  encoder.source(2, Type::b64);
  if (!form.a_in_registers) encoder.source(1, Type::b64);
  const ScaleD scale_d = encode_scale_d(encoder, operands[3]);
  encoder.instruction.set_options(WarpgroupOptions{shared_form(form), scale_d});
  encoder.instruction.execute = execute_warpgroup_product;
}

}  // namespace

void decode_warpgroup_product(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  encoder.instruction.kind = InstructionClass::matrix;
  if (statement.has("mma_async")) {
    decode_product(encoder);
  } else if (statement.has("fence")) {
    encoder.instruction.execute = execute_warpgroup_fence;
  } else if (statement.has("commit_group")) {
    encoder.instruction.execute = execute_warpgroup_commit;
  } else if (statement.has("wait_group")) {
    encoder.instruction.immediate = constant(encoder, 0);
    encoder.instruction.execute = execute_warpgroup_wait;
  } else {
    encoder.unknown("expected mma_async, fence, commit_group or wait_group");
  }
  all_lanes_are_members(encoder);
}

}  // namespace halfgrad::emulator
