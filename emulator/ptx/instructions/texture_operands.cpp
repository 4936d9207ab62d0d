#include <halfgrad/emulator/ptx/instructions/texture_operands.h>

#include <array>
#include <string>
#include <utility>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/memory/access_site.h>
#include <halfgrad/emulator/ptx/families.h>
#include <halfgrad/emulator/simt/launch.h>

namespace halfgrad::emulator {

std::span<const OpcodeEntry> texture_opcodes() {
  static constexpr std::array kOpcodes{
      OpcodeEntry{"tex", decode_texture},       OpcodeEntry{"tld4", decode_texture},
      OpcodeEntry{"txq", decode_texture_query}, OpcodeEntry{"suq", decode_texture_query},
      OpcodeEntry{"suld", decode_surface_load}, OpcodeEntry{"sust", decode_surface_store},
  };
  return kOpcodes;
}

ImageShape geometry_of(const Encoder& encoder) {
  constexpr std::pair<std::string_view, ImageShape> kGeometries[] = {
      {"1d", ImageShape::one},
      {"2d", ImageShape::two},
      {"3d", ImageShape::three},
      {"a1d", ImageShape::layered_one},
      {"a2d", ImageShape::layered_two},
      {"cube", ImageShape::cube},
      {"acube", ImageShape::layered_cube}};
  for (const auto& [name, shape] : kGeometries) {
    if (encoder.statement.has(name)) return shape;
  }
  encoder.unknown("expected a geometry such as .2d");
}

std::span<const Operand> handle_and_coordinates(Encoder& encoder, const Operand& operand,
                                                unsigned count) {
  if (operand.kind != Operand::Kind::address || operand.parts.size() != 2 || operand.offset != 0) {
    encoder.unknown("expected [handle, coordinates]");
  }
  if (encoder.register_bytes(operand.parts[0]) != 8) {
    encoder.unknown("expected a handle of a texture or surface object in a 64-bit register");
  }
  encoder.source(operand.parts[0], Type::b64);
  const Operand& coordinates = operand.parts[1];
  const std::span<const Operand> all = coordinates.kind == Operand::Kind::vector
                                           ? std::span<const Operand>(coordinates.parts)
                                           : std::span<const Operand>(&coordinates, 1);
  if (all.size() < count) encoder.unknown("expected " + std::to_string(count) + " coordinates");
  return all;
}

const TextureObject& object_of(Execution& execution, const Instruction& instruction,
                               std::uint64_t handle, bool is_surface) {
  const TextureTable* table = execution.launch->machine.textures;
  const TextureObject* object = table == nullptr ? nullptr : table->find(handle);
  const unsigned lane = first_lane(execution.mask);
  const std::string wanted = is_surface ? "surface object" : "texture object";
  if (object == nullptr) {
    abort_kernel(execution, instruction, lane, FindingKind::invalid_call,
                 hexadecimal(handle) + " is no " + wanted);
  }
  if (object->is_surface != is_surface) {
    abort_kernel(execution, instruction, lane, FindingKind::invalid_call,
                 hexadecimal(handle) + " is a " + (is_surface ? "texture" : "surface") +
                     " object, not a " + wanted);
  }
  if (object->ended != 0 && execution.launch->request.operation > object->ended) {
    abort_kernel(execution, instruction, lane, FindingKind::use_after_free,
                 "the " + wanted + " was destroyed before this kernel was launched");
  }
  return *object;
}

}  // namespace halfgrad::emulator
