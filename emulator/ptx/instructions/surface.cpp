// suld.b, sust.b (PTX ISA, "Surface Instructions").
#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/ptx/instructions/memory_form.h>
#include <halfgrad/emulator/ptx/instructions/texture_operands.h>

namespace halfgrad::emulator {
namespace {

/// Handling of coordinates outside of the surface: .trap, .clamp or .zero.
enum class Boundary : std::uint8_t { trap, clamp, zero };

struct SurfaceOptions {
  ImageShape geometry = ImageShape::two;
  Boundary boundary = Boundary::trap;
  std::uint8_t elements = 1;
  std::uint8_t element_bytes = 4;
  std::uint8_t register_bytes = 4;

  unsigned bytes() const { return unsigned{elements} * element_bytes; }
};

/// Bytes of all lanes: each lane's elements together.
using LaneBytes = std::array<std::byte, kWarpSize * 16>;

/// Names of coordinates in the order of the operand: the layer comes first.
struct SurfacePlace {
  std::int64_t x = 0, y = 0, slice = 0;
};

SurfacePlace place_of_lane(const Execution& execution, const Instruction& instruction,
                           unsigned lane) {
  const auto& options = instruction.options<SurfaceOptions>();
  const auto at = [&](unsigned i) -> std::int64_t {
    return execution.lanes<std::int32_t>(instruction.list[options.elements + i])[lane];
  };
  switch (options.geometry) {
    case ImageShape::one:
      return {at(0), 0, 0};
    case ImageShape::two:
      return {at(0), at(1), 0};
    case ImageShape::three:
      return {at(0), at(1), at(2)};
    case ImageShape::layered_one:
      return {at(1), 0, at(0)};
    default:
      return {at(1), at(2), at(0)};
  }
}

[[noreturn]] void abort_outside(const Execution& execution, const Instruction& instruction,
                                unsigned lane, const Image& surface, const SurfacePlace& place) {
  const bool store = instruction.kind == InstructionClass::store;
  abort_kernel(execution, instruction, lane, FindingKind::out_of_bounds,
               std::string(store ? "surface store of " : "surface load of ") +
                   std::to_string(instruction.options<SurfaceOptions>().bytes()) +
                   " bytes at byte " + std::to_string(place.x) + " of row " +
                   std::to_string(place.y) + " of slice " + std::to_string(place.slice) +
                   ", outside of a " + name_of(surface.shape) + " surface with " +
                   std::to_string(surface.slices) + " slices of " + std::to_string(surface.height) +
                   " rows of " + std::to_string(surface.row_bytes()) + " bytes",
               surface.address);
}

/// Lanes inside of the surface, and their addresses.
LaneMask locate(Execution& execution, const Instruction& instruction, const Image& surface,
                LaneAddresses& addresses) {
  const auto& options = instruction.options<SurfaceOptions>();
  const std::int64_t last_x = static_cast<std::int64_t>(surface.row_bytes()) - options.bytes();
  const std::int64_t last_y = std::int64_t{surface.height} - 1;
  const std::int64_t last_slice = std::int64_t{surface.slices} - 1;
  LaneMask inside = 0;
  each_lane(execution.mask, [&](unsigned lane) {
    SurfacePlace place = place_of_lane(execution, instruction, lane);
    const bool fits = place.x >= 0 && place.x <= last_x && place.y >= 0 && place.y <= last_y &&
                      place.slice >= 0 && place.slice <= last_slice;
    if (!fits && options.boundary == Boundary::zero) return;
    if (last_x < 0 || (!fits && options.boundary == Boundary::trap)) {
      abort_outside(execution, instruction, lane, surface, place);
    }
    place.x = std::clamp<std::int64_t>(place.x, 0, last_x);
    place.y = std::clamp<std::int64_t>(place.y, 0, last_y);
    place.slice = std::clamp<std::int64_t>(place.slice, 0, last_slice);
    if (place.x % options.bytes() != 0) {
      abort_kernel(execution, instruction, lane, FindingKind::misaligned,
                   "byte " + std::to_string(place.x) + " of a surface's row, which must be a " +
                       "multiple of " + std::to_string(options.bytes()) +
                       ": x counts bytes, not elements",
                   surface.address);
    }
    inside |= LaneMask{1} << lane;
    addresses[lane] = surface.address +
                      static_cast<std::uint64_t>(place.slice) * surface.slice_pitch +
                      static_cast<std::uint64_t>(place.y) * surface.row_pitch +
                      static_cast<std::uint64_t>(place.x);
  });
  return inside;
}

/// Faces of a cubemap count as layers: surfaces have no directions.
void check_surface_shape(Execution& execution, const Instruction& instruction,
                         const Image& surface) {
  const ImageShape geometry = instruction.options<SurfaceOptions>().geometry;
  const ImageShape own = is_cube(surface.shape) ? ImageShape::layered_two : surface.shape;
  if (own == geometry) return;
  abort_kernel(execution, instruction, first_lane(execution.mask), FindingKind::invalid_call,
               std::string("an access for ") + name_of(geometry) +
                   " surfaces gets a surface of kind: " + name_of(surface.shape));
}

Access access_of_surface(const SurfaceOptions& options, AccessKind kind) {
  return {.space = Space::global,
          .kind = kind,
          .bytes = static_cast<std::uint8_t>(options.bytes()),
          .alignment = static_cast<std::uint8_t>(options.bytes()),
          .path = AccessPath::surface};
}

void load_texels(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<SurfaceOptions>();
  LaneBytes bytes{};
  each_object(execution, instruction, true, [&](Execution& part, const TextureObject& object) {
    check_surface_shape(part, instruction, object.surface);
    LaneAddresses addresses{};
    part.mask = locate(part, instruction, object.surface, addresses);
    if (part.mask == 0) return;
    const HostPointers from =
        resolve(part, instruction, access_of_surface(options, AccessKind::load), addresses);
    each_lane(part.mask, [&](unsigned lane) {
      std::memcpy(&bytes[std::size_t{lane} * 16], from.lane[lane], options.bytes());
    });
  });
  for (unsigned i = 0; i < options.elements; ++i) {
    auto* registers = execution.lanes<std::byte>(instruction.list[i]);
    each_lane(execution.mask, [&](unsigned lane) {
      std::byte* one = registers + std::size_t{lane} * options.register_bytes;
      std::memset(one, 0, options.register_bytes);
      std::memcpy(one, &bytes[std::size_t{lane} * 16 + std::size_t{i} * options.element_bytes],
                  options.element_bytes);
    });
  }
}

/// The bytes that each lane stores, options.bytes() for each.
LaneBytes stored_bytes(const Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<SurfaceOptions>();
  LaneBytes bytes{};
  for (unsigned i = 0; i < options.elements; ++i) {
    const auto* registers = execution.lanes<std::byte>(instruction.list[i]);
    each_lane(execution.mask, [&](unsigned lane) {
      std::memcpy(
          &bytes[std::size_t{lane} * options.bytes() + std::size_t{i} * options.element_bytes],
          registers + std::size_t{lane} * options.register_bytes, options.element_bytes);
    });
  }
  return bytes;
}

void store_texels(Execution& execution, const Instruction& instruction) {
  const auto& options = instruction.options<SurfaceOptions>();
  const LaneBytes bytes = stored_bytes(execution, instruction);
  each_object(execution, instruction, true, [&](Execution& part, const TextureObject& object) {
    check_surface_shape(part, instruction, object.surface);
    LaneAddresses addresses{};
    part.mask = locate(part, instruction, object.surface, addresses);
    if (part.mask == 0) return;
    const HostPointers to = resolve(
        part, instruction, access_of_surface(options, AccessKind::store), addresses, bytes.data());
    each_lane(part.mask, [&](unsigned lane) {
      std::memcpy(to.lane[lane], &bytes[std::size_t{lane} * options.bytes()], options.bytes());
    });
  });
}

constexpr std::string_view kSurfaceModifiers[] = {"b",   "1d",   "2d",    "3d",  "a1d",
                                                  "a2d", "trap", "clamp", "zero"};

/// Reads the modifiers and appends the registers of the elements to `list`.
SurfaceOptions options_of(Encoder& encoder, const Operand& operand, bool loads,
                          std::vector<Offset>& list) {
  const Statement& statement = encoder.statement;
  const MemoryForm form = memory_form(encoder, kSurfaceModifiers);
  if (!statement.has("b")) encoder.unknown("formatted accesses of surfaces");
  const std::span<const Operand> elements = elements_of(operand);
  SurfaceOptions options;
  options.geometry = geometry_of(encoder);
  if (statement.has("clamp")) options.boundary = Boundary::clamp;
  if (statement.has("zero")) options.boundary = Boundary::zero;
  options.elements = form.count;
  options.element_bytes = static_cast<std::uint8_t>(bytes_of(form.type));
  const unsigned size = element_register_bytes(encoder, elements, form);
  options.register_bytes = static_cast<std::uint8_t>(size);
  if (options.bytes() > 16 || size < options.element_bytes) {
    encoder.unknown("expected an access of at most 16 bytes, and registers that hold them");
  }
  for (const Operand& element : elements) {
    list.push_back(loads ? encoder.destination_offset(element, bits_of(size))
                         : encoder.source_offset(element, bits_of(size)));
  }
  return options;
}

void decode_access(Encoder& encoder, unsigned data, unsigned address) {
  if (encoder.operands() != 2) encoder.unknown("expected registers and a place");
  const auto& operands = encoder.statement.operands;
  const bool loads = data < address;
  std::vector<Offset> list;
  const SurfaceOptions options = options_of(encoder, operands[data], loads, list);
  const unsigned count = dimensions_of(options.geometry) + (is_layered(options.geometry) ? 1u : 0u);
  for (const Operand& one :
       handle_and_coordinates(encoder, operands[address], count).first(count)) {
    list.push_back(encoder.source_offset(one, Type::b32));
  }
  encoder.list(list);
  encoder.instruction.set_options(options);
  encoder.instruction.execute = loads ? load_texels : store_texels;
  encoder.instruction.kind = loads ? InstructionClass::load : InstructionClass::store;
}

}  // namespace

void decode_surface_load(Encoder& encoder) { decode_access(encoder, 0, 1); }

void decode_surface_store(Encoder& encoder) { decode_access(encoder, 1, 0); }

}  // namespace halfgrad::emulator
