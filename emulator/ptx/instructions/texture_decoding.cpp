// Forms of tex and tld4 (PTX ISA, "Texture Instructions").
#include <string>
#include <vector>

#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/ptx/instructions/texture_fetch.h>
#include <halfgrad/emulator/ptx/instructions/texture_operands.h>

namespace halfgrad::emulator {
namespace {

/// Appends `{d0, d1, d2, d3}` or `{...}|p` and returns the offsets of the four results.
std::vector<Offset> results_of(Encoder& encoder, TextureOptions& options) {
  const Operand* vector = &encoder.statement.operands[0];
  if (vector->kind == Operand::Kind::pair) {
    options.tells_residency = true;
    encoder.destination(vector->parts[1], Type::pred);
    vector = &vector->parts[0];
  }
  if (vector->kind != Operand::Kind::vector || vector->parts.size() != kTextureResults) {
    encoder.unknown("expected four results");
  }
  std::vector<Offset> list;
  for (const Operand& one : vector->parts) {
    list.push_back(encoder.destination_offset(one, Type::b32));
  }
  return list;
}

void append(Encoder& encoder, std::vector<Offset>& list, std::span<const Operand> operands,
            unsigned count, Type type) {
  if (operands.size() < count) encoder.unknown("expected " + std::to_string(count) + " elements");
  for (const Operand& one : operands.first(count)) {
    list.push_back(encoder.source_offset(one, type));
  }
}

std::span<const Operand> parts_of(const Operand& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.parts;
  return {&operand, 1};
}

void read_types(const Encoder& encoder, TextureOptions& options) {
  const Statement& statement = encoder.statement;
  const Type result = statement.type(1), coordinates = statement.type(0);
  const bool known =
      statement.has("v4") && (result == Type::f32 || result == Type::s32 || result == Type::u32);
  if (!known) encoder.unknown("expected .v4 and a result of 32 bits");
  if (coordinates != Type::f32 && coordinates != Type::s32) {
    encoder.unknown("expected coordinates of type f32 or s32");
  }
  options.float_result = result == Type::f32;
  options.integer_coordinates = coordinates == Type::s32;
}

void read_component(const Encoder& encoder, TextureOptions& options) {
  constexpr std::string_view kComponents[] = {"r", "g", "b", "a"};
  for (std::uint8_t i = 0; i < 4; ++i) {
    if (encoder.statement.has(kComponents[i])) options.component = i;
  }
  if (options.integer_coordinates || encoder.operands() != 2 ||
      dimensions_of(options.geometry) != 2) {
    encoder.unknown("unknown form of tld4");
  }
}

constexpr std::string_view kTextureModifiers[] = {
    "1d", "2d", "3d", "a1d", "a2d", "cube", "acube", "level", "grad", "r", "g", "b", "a"};

}  // namespace

void decode_texture(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  TextureOptions options;
  memory_form(encoder, kTextureModifiers);  // throws for others
  if (encoder.operands() < 2) encoder.unknown("expected a result and an address");
  options.geometry = geometry_of(encoder);
  options.gathers = statement.opcode == "tld4";
  read_types(encoder, options);
  if (options.gathers) read_component(encoder, options);
  if (statement.has("level")) options.detail = Detail::level;
  if (statement.has("grad")) options.detail = Detail::gradients;
  std::vector<Offset> list = results_of(encoder, options);

  const bool layer = has_layer(options.geometry);
  const unsigned count = coordinates_of(options.geometry) + (layer ? 1u : 0u);
  const Type type = options.integer_coordinates ? Type::b32 : Type::f32;
  std::span<const Operand> coordinates =
      handle_and_coordinates(encoder, statement.operands[1], count);
  if (layer) append(encoder, list, coordinates, 1, Type::b32);
  append(encoder, list, coordinates.subspan(layer ? 1 : 0), coordinates_of(options.geometry), type);

  const unsigned extra = options.detail == Detail::none    ? 0
                         : options.detail == Detail::level ? 1
                                                           : 2;
  if (encoder.operands() != 2 + extra) encoder.unknown("offsets and depth comparisons");
  const bool levels = options.detail == Detail::level;
  options.gradient_size = static_cast<std::uint8_t>(coordinates_of(options.geometry));
  if (options.detail == Detail::gradients && is_cube(options.geometry)) {
    encoder.unknown("gradients of a cubemap");
  }
  for (unsigned i = 0; i < extra; ++i) {
    append(encoder, list, parts_of(statement.operands[2 + i]),
           levels ? 1u : unsigned{options.gradient_size}, type);
  }
  encoder.list(list);
  encoder.instruction.set_options(options);
  encoder.instruction.execute = fetch_textures;
  encoder.instruction.kind = InstructionClass::load;
}

}  // namespace halfgrad::emulator
