// PTX ISA, "Warp Level Matrix Instructions": forms of mma.sync and wmma.mma.
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/matrix_product.h>
#include <halfgrad/emulator/ptx/instructions/warp.h>

namespace halfgrad::emulator {
namespace {

bool is_float(Element element) {
  return is_float8(element) || element == Element::f16 || element == Element::bf16 ||
         element == Element::tf32;
}

/// Whether PTX has a product of these types; any shape.
bool types_fit(const Product& product) {
  const bool same_result = product.c == product.d;
  switch (product.a) {
    case Element::f16:
      return product.b == Element::f16 &&
             (product.c == Element::f16 || product.c == Element::f32) &&
             (product.d == Element::f16 || product.d == Element::f32);
    case Element::bf16:
    case Element::tf32:
      return product.b == product.a && same_result && product.c == Element::f32;
    case Element::f64:
      return product.b == Element::f64 && same_result && product.c == Element::f64;
    case Element::e4m3:
    case Element::e5m2:
      return is_float8(product.b) && same_result &&
             (product.c == Element::f16 || product.c == Element::f32);
    case Element::b1:
      return product.b == Element::b1 && same_result && product.c == Element::s32;
    default:
      return is_integer(product.a) && is_integer(product.b) &&
             bits_of(product.a) == bits_of(product.b) && same_result && product.c == Element::s32;
  }
}

/// mma: 16 or 8 rows, 8 columns, and 4 registers' depth along k once or twice, 4 times for f64.
bool mma_shape_fits(MatrixShape shape, Element type) {
  const unsigned block = type == Element::f64 ? 4 : 128 / bits_of(type);
  const unsigned blocks = shape.k / block;
  if (shape.n != 8 || shape.k % block != 0) return false;
  if (shape.m == 8) return blocks == 1 && !is_float(type);
  return shape.m == 16 && (blocks == 1 || blocks == 2 || (blocks == 4 && type == Element::f64));
}

unsigned per_register(Element element) {
  return element == Element::f64 || element == Element::b1 ? 1 : 32 / bits_of(element);
}

/// A register of b1 is one word of a matrix of words.
MatrixShape layout_shape(const Product& product) {
  MatrixShape shape = product.shape;
  if (product.a == Element::b1) shape.k /= 32;
  return shape;
}

/// Appends the registers of operand i to the list and returns how many they are. wmma holds some
/// fragments of f16 in more registers than their elements fill: these are copies.
unsigned append_registers(Encoder& encoder, unsigned i, Element type, unsigned expected,
                          std::vector<Offset>& list) {
  const Type word = type == Element::f64 ? Type::b64 : Type::b32;
  const std::vector<Operand> registers = registers_of(encoder.statement.operands[i]);
  const bool copies = encoder.statement.opcode == "wmma" && type == Element::f16 &&
                      (i == 1 || i == 2) && registers.size() == 8;
  if (registers.size() != expected && !copies) {
    encoder.unknown("expected " + std::to_string(expected) + " registers of operand " +
                    std::to_string(i));
  }
  for (const Operand& one : registers) {
    list.push_back(i == 0 ? encoder.destination_offset(one, word)
                          : encoder.source_offset(one, word));
  }
  return static_cast<unsigned>(registers.size());
}

/// An equal product that lives forever.
const Product* shared_product(const Product& product) {
  static std::mutex mutex;
  static std::deque<Product> products;
  const std::lock_guard lock(mutex);
  for (const Product& one : products) {
    if (one == product) return &one;
  }
  return &products.emplace_back(product);
}

void encode_product(Encoder& encoder, Product product) {
  const MatrixShape shape = layout_shape(product);
  product.layout_a = &fragment_layout(MatrixRole::a, shape, per_register(product.a));
  product.layout_b = &fragment_layout(MatrixRole::b, shape, per_register(product.b));
  product.layout_c = &fragment_layout(MatrixRole::accumulator, shape, per_register(product.c));
  product.layout_d = &fragment_layout(MatrixRole::accumulator, shape, per_register(product.d));
  if (encoder.operands() != 4) encoder.unknown("expected d, a, b, c");
  std::vector<Offset> list;
  ProductOptions options{};
  const auto append = [&](unsigned i, Element type, const FragmentLayout& layout) {
    return static_cast<std::uint8_t>(append_registers(encoder, i, type, layout.registers, list));
  };
  options.d = append(0, product.d, *product.layout_d);
  options.a = append(1, product.a, *product.layout_a);
  options.b = append(2, product.b, *product.layout_b);
  options.c = append(3, product.c, *product.layout_c);
  encoder.list(list);
  all_lanes_are_members(encoder);
  options.product = shared_product(product);
  encoder.instruction.set_options(options);
  encoder.instruction.kind = InstructionClass::matrix;
  encoder.instruction.execute = execute_of_product(product);
}

/// The types in the order of the modifiers: D, A, B, C; wmma of f16 writes D and C only.
Product product_of(const Encoder& encoder) {
  std::vector<Element> types;
  for (const std::string_view modifier : encoder.statement.modifiers) {
    const Element element = element_named(modifier);
    if (element != Element::none) types.push_back(element);
  }
  Product product{};
  product.shape = shape_of(encoder);
  if (types.size() == 4) {
    product.d = types[0], product.a = types[1], product.b = types[2], product.c = types[3];
  } else if (types.size() == 2 && encoder.statement.opcode == "wmma") {
    product.d = types[0], product.a = product.b = Element::f16, product.c = types[1];
  } else {
    encoder.unknown("expected types of d, a, b and c");
  }
  product.saturate = encoder.statement.has("satfinite");
  product.exclusive_or = encoder.statement.has("xor");
  return product;
}

/// Forms that change the meaning of a product and are not implemented.
void refuse_other_forms(const Encoder& encoder, const Product& product) {
  const Statement& statement = encoder.statement;
  for (const char* modifier :
       {"sp", "sp::ordered_metadata", "block_scale", "kind::f8f6f4", "rz", "rm", "rp"}) {
    if (statement.has(modifier)) encoder.unknown(std::string("no products with .") + modifier);
  }
  if (!types_fit(product)) encoder.unknown("no product of these types");
  if (product.saturate && (!is_integer(product.a) || product.a == Element::b1)) {
    encoder.unknown("no .satfinite of this type");
  }
  if (product.a == Element::b1 &&
      (!statement.has("popc") || statement.has("xor") == statement.has("and"))) {
    encoder.unknown("expected .xor.popc or .and.popc");
  }
}

}  // namespace

void decode_mma(Encoder& encoder) {
  const Product product = product_of(encoder);
  refuse_other_forms(encoder, product);
  const Statement& statement = encoder.statement;
  if (!statement.has("row") || !statement.has("col")) encoder.unknown("expected .row.col");
  if (!mma_shape_fits(product.shape, product.a)) encoder.unknown("no such shape of this type");
  encode_product(encoder, product);
}

void decode_wmma(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (statement.has("load")) return decode_wmma_load(encoder);
  if (statement.has("store")) return decode_wmma_store(encoder);
  if (!statement.has("mma")) encoder.unknown("expected load, store or mma");
  const Product product = product_of(encoder);
  refuse_other_forms(encoder, product);
  if (is_float8(product.a) || !wmma_shape_fits(product.shape, product.a))
    encoder.unknown("no such shape of this type");
  encode_product(encoder, product);
}

}  // namespace halfgrad::emulator
