#include <halfgrad/emulator/ptx/mutation.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <span>
#include <stdexcept>
#include <utility>

#include <halfgrad/emulator/ptx/module_index.h>
#include <halfgrad/emulator/ptx/syntax.h>

namespace halfgrad::emulator {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(MutantKind::count)> kNames = {
    "barrier", "bound", "threshold", "sign", "extremum", "store"};

/// Words that take each other's place: comparisons, also unsigned and unordered ones, and opcodes.
constexpr std::pair<std::string_view, std::string_view> kComparisons[] = {
    {"lt", "le"}, {"gt", "ge"}, {"lo", "ls"}, {"hi", "hs"}, {"ltu", "leu"}, {"gtu", "geu"}};
constexpr std::pair<std::string_view, std::string_view> kOpcodes[] = {
    {"add", "sub"}, {"min", "max"}, {"fma", kMultiplySubtract}};

/// The partner of a word, or "".
std::string_view partner(std::span<const std::pair<std::string_view, std::string_view>> pairs,
                         std::string_view word) {
  for (const auto& [one, other] : pairs) {
    if (word == one) return other;
    if (word == other) return one;
  }
  return {};
}

bool is_floating_point(Type type) {
  switch (type) {
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
    case Type::f32:
    case Type::f64:
      return true;
    default:
      return false;
  }
}

bool is_barrier(const Statement& statement) {
  const std::string_view opcode = statement.opcode;
  if (opcode == "bar" || opcode == "barrier") return !statement.has("red");
  if (opcode == "fence" || opcode == "membar") return true;
  if (opcode == "cp") return statement.has("wait_group") || statement.has("wait_all");
  if (opcode == "wgmma") return statement.has("fence") || statement.has("wait_group");
  return opcode == "mbarrier" && (statement.has("try_wait") || statement.has("test_wait"));
}

bool is_store(const Statement& statement) {
  return (statement.opcode == "st" || statement.opcode == "red") &&
         (statement.has("global") || statement.has("shared"));
}

bool is_in_system_header(const std::string& file) {
  const std::size_t include = file.find("/include/");
  return file.starts_with("/usr/") ||
         (include != std::string::npos && file.rfind("/targets/", include) != std::string::npos);
}

std::string name_of(const ModuleIndex& index, std::uint32_t file) {
  const auto found = index.files.find(file);
  return found == index.files.end() ? "?" : found->second;
}

}  // namespace

const char* mutant_name(MutantKind kind) { return kNames[static_cast<std::size_t>(kind)]; }

bool Mutant::is_at(const std::optional<SourceLine>& place) const {
  if (!place || place->line != at.line || !place->file.ends_with(at.file)) return false;
  const std::size_t before = place->file.size() - at.file.size();
  return before == 0 || at.file.starts_with('/') || place->file[before - 1] == '/';
}

Mutant parse_mutant(std::string_view text) {
  const std::size_t first = text.find(':'), last = text.rfind(':');
  Mutant mutant;
  bool valid = first != std::string_view::npos && first < last;
  if (valid) {
    const auto name = std::find(kNames.begin(), kNames.end(), text.substr(0, first));
    mutant.kind = static_cast<MutantKind>(name - kNames.begin());
    mutant.at.file = text.substr(first + 1, last - first - 1);
    const char* const end = text.data() + text.size();
    const auto [read, error] = std::from_chars(text.data() + last + 1, end, mutant.at.line);
    valid = name != kNames.end() && !mutant.at.file.empty() && error == std::errc() &&
            read == end && mutant.at.line > 0;
  }
  if (!valid) {
    std::string kinds;
    for (const char* name : kNames) kinds += (kinds.empty() ? "" : ", ") + std::string(name);
    throw std::invalid_argument(
        "expected KIND:FILE:LINE, such as barrier:reduce.cu:31, with a "
        "kind of " +
        kinds + ", got " + std::string(text));
  }
  return mutant;
}

std::string to_string(const Mutant& mutant) {
  return std::string(mutant_name(mutant.kind)) + ":" + mutant.at.file + ":" +
         std::to_string(mutant.at.line);
}

std::optional<MutantKind> mutant_kind(const Statement& statement) {
  if (is_barrier(statement)) return MutantKind::barrier;
  if (is_store(statement)) return MutantKind::store;
  const bool floats = is_floating_point(statement.type());
  if (statement.opcode == "setp" || statement.opcode == "set") {
    const bool has_partner =
        !statement.modifiers.empty() && !partner(kComparisons, statement.modifiers[0]).empty();
    if (!has_partner) return std::nullopt;
    return floats ? MutantKind::threshold : MutantKind::bound;
  }
  if (statement.opcode == "min" || statement.opcode == "max") return MutantKind::extremum;
  const bool adds =
      statement.opcode == "add" || statement.opcode == "sub" || statement.opcode == "fma";
  return adds && floats ? std::optional(MutantKind::sign) : std::nullopt;
}

std::optional<SourceLine> mutant_place(const ModuleIndex& index, const Location& location) {
  if (location.line == 0) return SourceLine{"", location.ptx_line};
  const SourceLine innermost{name_of(index, location.file), location.line};
  if (!is_in_system_header(innermost.file)) return innermost;
  const SourceLine outermost{name_of(index, location.inlined_file), location.inlined_line};
  const bool is_own = location.inlined_line != 0 && !is_in_system_header(outermost.file);
  return is_own ? std::optional(outermost) : std::nullopt;
}

bool mutate(Statement& statement, MutantKind kind) {
  switch (kind) {
    case MutantKind::barrier:
      if (statement.opcode != "mbarrier") return true;
      // A wait for an mbarrier is a loop until its result is true: it becomes true at once.
      statement.opcode = "mov";
      statement.modifiers = {"pred"};
      statement.operands.resize(1);
      statement.operands.emplace_back();
      statement.operands.back().kind = Operand::Kind::immediate;
      statement.operands.back().bits = 1;
      return false;
    case MutantKind::store:
      return true;
    case MutantKind::bound:
    case MutantKind::threshold:
      statement.modifiers[0] = partner(kComparisons, statement.modifiers[0]);
      return false;
    default:
      statement.opcode = partner(kOpcodes, statement.opcode);
      return false;
  }
}

}  // namespace halfgrad::emulator
