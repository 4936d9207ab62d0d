// PTX ISA, "Scalar Video Instructions": vadd vsub vabsdiff vmin vmax with a selected byte or half
// of an operand or of the result, vshl vshr vmad vset. Negated operands of vmad are unknown.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <halfgrad/emulator/ptx/instructions/comparisons.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>
#include <halfgrad/emulator/ptx/instructions/video_selectors.h>

namespace halfgrad::emulator {
namespace {

/// More bits than any intermediate result.
__extension__ typedef __int128 Wide;

enum class ScalarOperation : std::uint8_t {
  add,
  subtract,
  absolute_difference,
  minimum,
  maximum,
  shift_left,
  shift_right,
  multiply,
  compare,
};
/// The way in which operand c takes part.
enum class Third : std::uint8_t { none, merge, add, minimum, maximum };

/// Part of a word: `bits` bits from bit `first` on.
struct Part {
  std::uint8_t first = 0, bits = 32;
};

struct ScalarForm {
  ScalarOperation operation{};
  Third third{};
  Part a, b, d;
  bool signed_a = false, signed_b = false, signed_result = false, saturated = false;
  bool wraps = false, plus_one = false;  ///< modifiers of shifts and of vmad
  std::uint8_t shift = 0;                ///< scales vmad's result down
  Comparison comparison{};
};
static_assert(sizeof(ScalarForm) <= 16);

Wide value_of(std::uint32_t word, Part part, bool is_signed) {
  const std::uint32_t top = word << (32 - part.bits - part.first);
  if (is_signed) return static_cast<std::int32_t>(top) >> (32 - part.bits);
  return top >> (32 - part.bits);
}

Wide saturate(Wide x, unsigned bits, bool is_signed) {
  const Wide lowest = is_signed ? -(Wide{1} << (bits - 1)) : 0;
  return std::clamp(x, lowest, (Wide{1} << (bits - is_signed)) - 1);
}

bool compare_wide(Comparison comparison, Wide a, Wide b) {
  switch (comparison) {
    case Comparison::eq:
      return a == b;
    case Comparison::ne:
      return a != b;
    case Comparison::lt:
      return a < b;
    case Comparison::le:
      return a <= b;
    case Comparison::gt:
      return a > b;
    default:
      return a >= b;
  }
}

Wide first_result(const ScalarForm& form, Wide a, Wide b) {
  switch (form.operation) {
    case ScalarOperation::add:
      return a + b;
    case ScalarOperation::subtract:
      return a - b;
    case ScalarOperation::absolute_difference:
      return a < b ? b - a : a - b;
    case ScalarOperation::minimum:
      return std::min(a, b);
    case ScalarOperation::maximum:
      return std::max(a, b);
    case ScalarOperation::compare:
      return compare_wide(form.comparison, a, b) ? 1 : 0;
    default: {
      const Wide count = form.wraps ? b & 31 : std::min<Wide>(b, 32);
      return form.operation == ScalarOperation::shift_left ? a * (Wide{1} << count) : a >> count;
    }
  }
}

/// a * b + c, scaled; the sign of c is that of the whole.
std::uint32_t multiply_add(const ScalarForm& form, Wide a, Wide b, std::uint32_t c) {
  const bool is_signed = form.signed_a || form.signed_b;
  Wide sum = a * b + value_of(c, Part{}, is_signed) + (form.plus_one ? 1 : 0);
  sum >>= form.shift;
  if (form.saturated) sum = saturate(sum, 32, is_signed);
  return static_cast<std::uint32_t>(sum);
}

std::uint32_t combine_scalar(const ScalarForm& form, std::uint32_t result, std::uint32_t c) {
  const Wide x = value_of(result, Part{}, form.signed_result);
  const Wide y = value_of(c, Part{}, form.signed_result);
  switch (form.third) {
    case Third::merge: {
      const std::uint32_t field = (~0u >> (32 - form.d.bits)) << form.d.first;
      return (c & ~field) | (result << form.d.first & field);
    }
    case Third::add:
      return result + c;
    case Third::minimum:
      return static_cast<std::uint32_t>(std::min(x, y));
    case Third::maximum:
      return static_cast<std::uint32_t>(std::max(x, y));
    default:
      return result;
  }
}

std::uint32_t evaluate_scalar(const ScalarForm& form, std::uint32_t a, std::uint32_t b,
                              std::uint32_t c) {
  const Wide x = value_of(a, form.a, form.signed_a), y = value_of(b, form.b, form.signed_b);
  if (form.operation == ScalarOperation::multiply) return multiply_add(form, x, y, c);
  Wide result = first_result(form, x, y);
  if (form.saturated) result = saturate(result, form.d.bits, form.signed_result);
  return combine_scalar(form, static_cast<std::uint32_t>(result), c);
}

void run_scalar(Execution& execution, const Instruction& instruction) {
  const ScalarForm form = instruction.options<ScalarForm>();
  using Word = std::uint32_t;
  compute_lanes<Word, Word, Word, Word>(
      execution, instruction,
      [form](Word a, Word b, Word c) { return evaluate_scalar(form, a, b, c); },
      std::index_sequence<0, 1, 2>{});
}

ScalarOperation operation_named(const Encoder& encoder) {
  constexpr std::pair<std::string_view, ScalarOperation> kNames[] = {
      {"vadd", ScalarOperation::add},
      {"vsub", ScalarOperation::subtract},
      {"vabsdiff", ScalarOperation::absolute_difference},
      {"vmin", ScalarOperation::minimum},
      {"vmax", ScalarOperation::maximum},
      {"vshl", ScalarOperation::shift_left},
      {"vshr", ScalarOperation::shift_right},
      {"vmad", ScalarOperation::multiply},
      {"vset", ScalarOperation::compare},
  };
  for (const auto& [name, operation] : kNames) {
    if (name == encoder.statement.opcode) return operation;
  }
  encoder.unknown("no such video instruction");
}

/// The selected part of a register, whose name is removed from the operand.
Part take_part(const Encoder& encoder, Operand& operand) {
  const std::string_view name = std::exchange(operand.name, std::string_view());
  if (operand.kind != Operand::Kind::reg || name.empty()) return {};
  const char kind = name[0];
  const unsigned index = name.size() == 2 ? static_cast<unsigned>(name[1] - '0') : 9;
  if (kind == 'b' && index < 4) return {static_cast<std::uint8_t>(8 * index), 8};
  if (kind == 'h' && index < 2) return {static_cast<std::uint8_t>(16 * index), 16};
  encoder.unknown("expected .b0 to .b3, .h0 or .h1");
}

Third third_of(const Statement& statement, bool merges) {
  if (merges) return Third::merge;
  if (statement.has("add")) return Third::add;
  if (statement.has("min")) return Third::minimum;
  return statement.has("max") ? Third::maximum : Third::none;
}

void read_modifiers(const Encoder& encoder, ScalarForm& form) {
  const Statement& statement = encoder.statement;
  form.saturated = statement.has("sat");
  form.plus_one = statement.has("po");
  form.shift = statement.has("shr7") ? 7 : statement.has("shr15") ? 15 : 0;
  const bool shifts = form.operation == ScalarOperation::shift_left ||
                      form.operation == ScalarOperation::shift_right;
  form.wraps = statement.has("wrap");
  if (shifts && form.wraps == statement.has("clamp")) encoder.unknown("expected .wrap or .clamp");
  if (form.operation == ScalarOperation::compare) {
    for (const std::string_view modifier : statement.modifiers) {
      if (const auto found = comparison_named(modifier)) form.comparison = *found;
    }
  }
}

}  // namespace

bool has_selectors(const Statement& statement) {
  return std::any_of(statement.operands.begin(), statement.operands.end(), [](const Operand& one) {
    return one.kind == Operand::Kind::reg && !one.name.empty();
  });
}

/// op.dtype.atype.btype{.sat}{.op2} d{.part}, a{.part}, b{.part}{, c};  vset has no dtype.
void video_scalar(Encoder& encoder) {
  only_modifiers(encoder, {"sat", "add", "min", "max", "clamp", "wrap", "po", "shr7", "shr15", "eq",
                           "ne", "lt", "le", "gt", "ge"});
  const Statement& statement = encoder.statement;
  ScalarForm form;
  form.operation = operation_named(encoder);
  const bool compares = form.operation == ScalarOperation::compare;
  if (type_count(statement) != (compares ? 2u : 3u)) encoder.unknown("expected other types");
  form.signed_b = is_signed(statement.type());
  form.signed_a = is_signed(statement.type(1));
  form.signed_result = !compares && is_signed(statement.type(2));
  read_modifiers(encoder, form);
  std::vector<Operand> operands = statement.operands;
  if (operands.size() < 3) encoder.unknown("expected 3 or 4 operands");
  const bool merges = !operands[0].name.empty();
  form.d = take_part(encoder, operands[0]);
  form.a = take_part(encoder, operands[1]);
  form.b = take_part(encoder, operands[2]);
  form.third = third_of(statement, merges);
  const bool has_c = form.third != Third::none || form.operation == ScalarOperation::multiply;
  require_operands(encoder, has_c ? 4 : 3);
  encoder.destination(operands[0], Type::b32);
  encoder.source(operands[1], Type::b32);
  encoder.source(operands[2], Type::b32);
  encoder.source(operands[has_c ? 3 : 2], Type::b32);
  encoder.instruction.set_options(form);
  execute_with(encoder, &run_scalar);
}

}  // namespace halfgrad::emulator
