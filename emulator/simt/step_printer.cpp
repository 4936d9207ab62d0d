#include <halfgrad/emulator/simt/step_printer.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <halfgrad/emulator/checks/report.h>
#include <halfgrad/emulator/simt/warp.h>

namespace halfgrad::emulator {
namespace {

constexpr unsigned kShownLanes = 4;  ///< values of a register that are printed

/// The text of a source line without its indentation, or "" if the file cannot be read.
std::string source_text(const std::string& file, unsigned line) {
  static std::map<std::string, std::vector<std::string>> files;
  const auto [entry, is_first] = files.try_emplace(file);
  if (is_first) {
    std::ifstream stream(file);
    for (std::string text; std::getline(stream, text);) entry->second.push_back(text);
  }
  if (line == 0 || line > entry->second.size()) return "";
  const std::string& text = entry->second[line - 1];
  const std::size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin);
}

/// Prints "saxpy.cu:7  y[i] += a * x[i];" when the line is another one than before.
void print_source_line(const Execution& execution, const Instruction& instruction) {
  static std::string last;
  const Location& at = execution.frame->function->statements[instruction.index].location;
  if (at.line == 0) return;
  const std::string file = execution.launch->request.module.file_name(at.file);
  const std::string place = file + ":" + std::to_string(at.line);
  if (place == last) return;
  last = place;
  std::printf("%s  %s\n", place.c_str(), source_text(file, at.line).c_str());
}

std::string lane_picture(LaneMask mask) {
  std::string picture(kWarpSize, '.');
  each_lane(mask, [&](unsigned lane) { picture[lane] = '#'; });
  return picture;
}

/// The first type that the statement names, such as f32 in cvt.rn.f32.s32.
Type first_type(const Statement& statement) {
  for (const std::string_view modifier : statement.modifiers) {
    if (type_named(modifier) != Type::none) return type_named(modifier);
  }
  return Type::none;
}

/// The type of destination i. It follows from the opcode: PTX names the types of operands.
Type destination_type(const Statement& statement, unsigned i) {
  const std::string_view opcode = statement.opcode;
  const auto is = [&](std::initializer_list<std::string_view> opcodes) {
    for (const std::string_view one : opcodes) {
      if (one == opcode) return true;
    }
    return false;
  };
  if (is({"setp", "isspacep", "testp"})) return Type::pred;
  if (i == 1 && is({"shfl", "match", "elect"})) return Type::pred;
  if (is({"popc", "clz", "bfind", "match", "elect"})) return Type::u32;
  const Type type = first_type(statement);
  if (!statement.has("wide")) return type;
  switch (type) {
    case Type::u16:
      return Type::u32;
    case Type::s16:
      return Type::s32;
    case Type::u32:
      return Type::u64;
    case Type::s32:
      return Type::s64;
    default:
      return type;
  }
}

template <class T>
std::uint64_t bits_of(const Execution& execution, Offset offset, unsigned lane) {
  return execution.lanes<T>(offset)[lane];
}

float half_value(std::uint64_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<float>(bits & 1023);
  float value =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0f, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
  return (bits >> 15 & 1) != 0 ? -value : value;
}

template <class... A>
std::string formatted(const char* format, A... values) {
  char text[64];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

std::string value_text(const Execution& execution, Offset offset, Type type, unsigned lane) {
  if (type == Type::pred) return (execution.predicate(offset) >> lane & 1) != 0 ? "true" : "false";
  const bool small = bytes_of(type) == 1;
  switch (small ? 2 : bytes_of(type)) {
    case 2: {
      const std::uint64_t bits = bits_of<std::uint16_t>(execution, offset, lane);
      if (type == Type::f16) return formatted("%g", static_cast<double>(half_value(bits)));
      if (is_signed(type)) return formatted("%d", static_cast<std::int16_t>(bits));
      return formatted("%" PRIu64, bits);
    }
    case 4: {
      const auto bits = execution.lanes<std::uint32_t>(offset)[lane];
      if (type == Type::f32)
        return formatted("%g", static_cast<double>(std::bit_cast<float>(bits)));
      if (type == Type::s32) return formatted("%d", static_cast<int>(bits));
      return formatted(type == Type::u32 ? "%u" : "0x%x", bits);
    }
    case 8: {
      const auto bits = execution.lanes<std::uint64_t>(offset)[lane];
      if (type == Type::f64) return formatted("%g", std::bit_cast<double>(bits));
      if (type == Type::s64) return formatted("%" PRId64, static_cast<std::int64_t>(bits));
      return formatted(type == Type::u64 ? "%" PRIu64 : "0x%" PRIx64, bits);
    }
    default:
      return "?";
  }
}

/// "all 3", or the values of the first active lanes.
std::string values_text(const Execution& execution, Offset offset, Type type) {
  std::string shown, first;
  bool equal = true;
  unsigned count = 0;
  each_lane(execution.mask, [&](unsigned lane) {
    const std::string value = value_text(execution, offset, type, lane);
    if (count == 0) first = value;
    equal = equal && value == first;
    if (count++ < kShownLanes) shown += (shown.empty() ? "" : ", ") + value;
  });
  if (equal && count > 1) return "all " + first;
  return count > kShownLanes ? shown + ", ..." : shown;
}

}  // namespace

bool steps_through(const Launch& launch) {
  const Settings& settings = launch.machine.settings;
  if (!settings.step) return false;
  const std::string& name = launch.request.kernel.main->name;
  return name.find(settings.step_kernel) != std::string::npos;
}

void print_step(const Execution& execution, const Instruction& instruction) {
  print_source_line(execution, instruction);
  const Statement& statement = execution.frame->function->statements[instruction.index];
  const Dim3& block = execution.block->index;
  std::string text(statement.text);
  for (char& letter : text) letter = letter == '\n' || letter == '\t' ? ' ' : letter;
  std::string values;
  for (unsigned i = 0; i < instruction.destinations; ++i) {
    const Type type = destination_type(statement, i);
    if (type == Type::none) continue;
    values +=
        (values.empty() ? "  = " : "; ") + values_text(execution, instruction.operands[i], type);
  }
  std::printf("  block (%u,%u,%u) warp %u  %s  %s%s\n", block.x, block.y, block.z,
              execution.warp->index, lane_picture(execution.mask).c_str(), text.c_str(),
              values.c_str());
}

}  // namespace halfgrad::emulator
