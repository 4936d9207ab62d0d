// txq, suq (PTX ISA, "Texture Instructions" and "Surface Instructions").
#include <algorithm>
#include <string_view>

#include <halfgrad/emulator/ptx/instructions/texture_operands.h>

namespace halfgrad::emulator {
namespace {

using Answer = std::uint32_t (*)(const TextureObject& object, const Image& level);

constexpr struct {
  std::string_view name;
  Answer answer;
  bool of_surfaces;
} kQueries[] = {
    {"width", [](const TextureObject&, const Image& level) { return level.width; }, true},
    {"height", [](const TextureObject&, const Image& level) { return level.height; }, true},
    {"depth",
     [](const TextureObject&, const Image& level) {
       return level.shape == ImageShape::three ? level.slices : 1;
     },
     true},
    {"array_size",
     [](const TextureObject&, const Image& level) {
       return is_layered(level.shape) ? level.slices : 1;
     },
     true},
    {"normalized_coords",
     [](const TextureObject& object, const Image&) {
       return std::uint32_t{object.texture.normalized_coordinates};
     },
     false},
    {"num_mipmap_levels",
     [](const TextureObject& object, const Image&) {
       return static_cast<std::uint32_t>(object.texture.levels.size());
     },
     false},
};

struct QueryOptions {
  std::uint8_t query = 0;
  bool of_surface = false;
  bool has_level = false;
};

void query(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<QueryOptions>();
  auto* result = execution.lanes<std::uint32_t>(instruction.operands[0]);
  each_object(
      execution, instruction, options.of_surface,
      [&](Execution& part, const TextureObject& object) {
        each_lane(part.mask, [&](unsigned lane) {
          const Image* image = &object.surface;
          if (!options.of_surface) {
            const auto& levels = object.texture.levels;
            const std::size_t wanted =
                options.has_level ? execution.lanes<std::uint32_t>(instruction.source(1))[lane] : 0;
            image = &levels[std::min(wanted, levels.size() - 1)];
          }
          result[lane] = kQueries[options.query].answer(object, *image);
        });
      });
}

}  // namespace

void decode_texture_query(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  QueryOptions options;
  options.of_surface = statement.opcode == "suq";
  options.has_level = statement.has("level");
  const auto found =
      std::find_if(std::begin(kQueries), std::end(kQueries), [&](const auto& candidate) {
        return statement.has(candidate.name) && (candidate.of_surfaces || !options.of_surface);
      });
  if (found == std::end(kQueries) || statement.type() != Type::b32) {
    encoder.unknown("unknown attribute of a texture or surface");
  }
  if (encoder.operands() != (options.has_level ? 3u : 2u)) encoder.unknown("unknown form");
  options.query = static_cast<std::uint8_t>(found - std::begin(kQueries));
  encoder.destination(0, Type::b32);
  const Operand& handle = statement.operands[1];
  if (handle.kind != Operand::Kind::address || handle.parts.size() != 1 || handle.offset != 0 ||
      encoder.register_bytes(handle.parts[0]) != 8) {
    encoder.unknown("expected a handle of a texture or surface object in a 64-bit register");
  }
  encoder.source(handle.parts[0], Type::b64);
  if (options.has_level) encoder.source(2, Type::b32);
  encoder.instruction.set_options(options);
  encoder.instruction.execute = query;
  encoder.instruction.kind = InstructionClass::move;
}

}  // namespace halfgrad::emulator
