// PTX ISA, "Comparison and Selection Instructions": set setp selp slct; and testp.

#include <halfgrad/emulator/ptx/instructions/comparisons.h>
#include <halfgrad/emulator/ptx/instructions/float_values.h>
#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/predicates.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <cmath>

namespace halfgrad::emulator {
namespace {

/// How the comparison's result is combined with a predicate source.
enum class Combine : std::uint8_t { none, logical_and, logical_or, logical_xor };

struct ComparisonForm {
  CompareLanes compare;
  Combine combine;
  std::uint8_t has_second;
};
static_assert(sizeof(ComparisonForm) <= 16);  // its padding holds the negations of predicates.h

Compared evaluate_comparison(const Execution& execution, const Instruction& instruction) {
  const ComparisonForm& form = instruction.options<ComparisonForm>();
  const Compared compared = form.compare(execution.lanes<std::byte>(instruction.source(0)),
                                         execution.lanes<std::byte>(instruction.source(1)));
  if (form.combine == Combine::none) return compared;
  const LaneMask other = source_predicate(execution, instruction, 2);
  switch (form.combine) {
    case Combine::logical_and:
      return {compared.first & other, compared.second & other};
    case Combine::logical_or:
      return {compared.first | other, compared.second | other};
    default:
      return {compared.first ^ other, compared.second ^ other};
  }
}

void set_predicates(Execution& execution, const Instruction& instruction) {
  const Compared result = evaluate_comparison(execution, instruction);
  if (instruction.options<ComparisonForm>().has_second != 0) {
    set_predicate(execution, instruction.operands[1], result.second);
  }
  set_predicate(execution, instruction.operands[0], result.first);
}

/// set: `one` where the comparison holds, 0 elsewhere; both halves of a packed result.
template <class T, bool Packed>
void set_values(Execution& execution, const Instruction& instruction) {
  const Compared holds = evaluate_comparison(execution, instruction);
  const T one = static_cast<T>(instruction.immediate);
  T* result = execution.lanes<T>(instruction.operands[0]);
  each_lane(execution.mask, [&](unsigned lane) {
    const T low = (holds.first >> lane & 1) != 0 ? one : T{0};
    if constexpr (Packed) {
      const T high = (holds.second >> lane & 1) != 0 ? one : T{0};
      result[lane] = high << 16 | low;
    } else {
      result[lane] = low;
    }
  });
}

/// Returns the bits that `set` writes if the comparison is true: 1.0 for a float type, all ones for
/// an integer type.
std::int64_t true_value(Type type, bool packed) {
  switch (type) {
    case Type::f32:
      return 0x3f800000;
    case Type::f16:
    case Type::f16x2:
      return F16::one;
    case Type::bf16:
    case Type::bf16x2:
      return BF16::one;
    default:
      return packed ? 0xffff : -1;
  }
}

/// The comparison that the modifiers describe; `set` and `setp` share it.
ComparisonForm form_of(const Encoder& encoder) {
  ComparisonForm form{};
  std::optional<Comparison> comparison;
  for (const std::string_view modifier : encoder.statement.modifiers) {
    if (type_named(modifier) != Type::none || modifier == "ftz") continue;
    if (modifier == "and") {
      form.combine = Combine::logical_and;
    } else if (modifier == "or") {
      form.combine = Combine::logical_or;
    } else if (modifier == "xor") {
      form.combine = Combine::logical_xor;
    } else if (const auto named = comparison_named(modifier); named && !comparison) {
      comparison = named;
    } else {
      encoder.unknown("modifier ." + std::string(modifier));
    }
  }
  if (!comparison) encoder.unknown("expected a comparison");
  form.compare = compare_lanes(encoder.statement.type(), *comparison, encoder.statement.has("ftz"));
  if (form.compare == nullptr) encoder.unknown("no such comparison of this type");
  return form;
}

void compared_operands(Encoder& encoder, const ComparisonForm& form) {
  const bool combined = form.combine != Combine::none;
  require_operands(encoder, combined ? 4 : 3);
  encoder.instruction.set_options(form);
  encoder.source(1, encoder.statement.type());
  encoder.source(2, encoder.statement.type());
  encoder.instruction.bytes[15] = 0;
  if (combined) predicate_sources(encoder, 3, 1);
}

void setp(Encoder& encoder) {
  ComparisonForm form = form_of(encoder);
  const Operand& target = encoder.statement.operands[0];
  if (target.kind == Operand::Kind::pair) {
    form.has_second = 1;
    encoder.destination(target.parts[0], Type::pred);
    encoder.destination(target.parts[1], Type::pred);
  } else {
    encoder.destination(0, Type::pred);
  }
  compared_operands(encoder, form);
  encoder.instruction.execute = &set_predicates;
}

void set(Encoder& encoder) {
  const ComparisonForm form = form_of(encoder);
  if (type_count(encoder.statement) != 2) encoder.unknown("expected two types");
  const Type result = encoder.statement.type(1), source = encoder.statement.type();
  const bool packed = source == Type::f16x2 || source == Type::bf16x2;
  encoder.destination(0, result);
  compared_operands(encoder, form);
  encoder.instruction.immediate = true_value(result, packed);
  if (bytes_of(result) == 2 && !packed) {
    encoder.instruction.execute = &set_values<std::uint16_t, false>;
  } else if (bytes_of(result) == 4) {
    encoder.instruction.execute =
        packed ? &set_values<std::uint32_t, true> : &set_values<std::uint32_t, false>;
  } else {
    encoder.unknown("no such type of result");
  }
}

template <class T>
void select_lanes(Execution& execution, const Instruction& instruction) {
  const T* a = execution.lanes<T>(instruction.source(0));
  const T* b = execution.lanes<T>(instruction.source(1));
  const LaneMask holds = source_predicate(execution, instruction, 2), mask = execution.mask;
  T* result = execution.lanes<T>(instruction.operands[0]);
  T values[kWarpSize];
  for (unsigned lane = 0; lane < kWarpSize; ++lane) {
    const T chosen = (holds >> lane & 1) != 0 ? a[lane] : b[lane];
    values[lane] = (mask >> lane & 1) != 0 ? chosen : result[lane];
  }
  for (unsigned lane = 0; lane < kWarpSize; ++lane) result[lane] = values[lane];
}

void selp(Encoder& encoder) {
  const Type type = encoder.statement.type();
  require_operands(encoder, 4);
  encoder.destination(0, type);
  encoder.source(1, type);
  encoder.source(2, type);
  predicate_sources(encoder, 3, 1);
  switch (bytes_of(type)) {
    case 2:
      return execute_with(encoder, &select_lanes<std::uint16_t>);
    case 4:
      return execute_with(encoder, &select_lanes<std::uint32_t>);
    default:
      return execute_with(encoder, bytes_of(type) == 8 ? &select_lanes<std::uint64_t> : nullptr);
  }
}

/// slct: a if c is not negative, -0.0 included; b for a NaN.
struct SelectBySign {
  template <class T, class S>
  T operator()(T a, T b, S c) const {
    return c >= 0 ? a : b;
  }
};

struct SelectBySignFlushed {
  template <class T>
  T operator()(T a, T b, float c) const {
    return flush(c) >= 0 ? a : b;
  }
};

template <class F, class S>
Execute slct_of(Type type) {
  using Word = std::uint32_t;
  using Long = std::uint64_t;
  switch (bytes_of(type)) {
    case 2:
      return &lanewise<F, std::uint16_t, std::uint16_t, std::uint16_t, S>;
    case 4:
      return &lanewise<F, Word, Word, Word, S>;
    case 8:
      return &lanewise<F, Long, Long, Long, S>;
    default:
      return nullptr;
  }
}

void slct(Encoder& encoder) {
  only_modifiers(encoder, {"ftz"});
  const Type type = encoder.statement.type(1), sign = encoder.statement.type();
  if (sign != Type::s32 && sign != Type::f32)
    encoder.unknown("expected s32 or f32 as the last type");
  const bool ftz = encoder.statement.has("ftz");
  execute_with(encoder, sign == Type::s32 ? slct_of<SelectBySign, std::int32_t>(type)
                        : ftz             ? slct_of<SelectBySignFlushed, float>(type)
                                          : slct_of<SelectBySign, float>(type));
  encoder.operands_of(type, {type, type, sign});
}

/// testp: whether `x` has the property that the modifier names. Zeros count as normal.
template <class T>
bool has_property(T x, std::string_view property) {
  if (property == "finite") return std::isfinite(x);
  if (property == "infinite") return std::isinf(x);
  if (property == "number") return !std::isnan(x);
  if (property == "notanumber") return std::isnan(x);
  if (property == "normal") return std::isnormal(x) || x == 0;
  return std::fpclassify(x) == FP_SUBNORMAL;
}

constexpr std::string_view kProperties[] = {"finite",     "infinite", "number",
                                            "notanumber", "normal",   "subnormal"};

template <class T>
void test_lanes(Execution& execution, const Instruction& instruction) {
  const T* x = execution.lanes<T>(instruction.source(0));
  const std::string_view property = kProperties[instruction.immediate];
  LaneMask holds = 0;
  each_lane(execution.mask,
            [&](unsigned lane) { holds |= LaneMask{has_property(x[lane], property)} << lane; });
  set_predicate(execution, instruction.operands[0], holds);
}

}  // namespace

void comparison(Encoder& encoder) {
  if (encoder.operands() == 0) encoder.unknown("expected operands");
  encoder.instruction.kind = class_of(encoder.statement.type());
  return encoder.statement.opcode == "setp" ? setp(encoder) : set(encoder);
}

void selection(Encoder& encoder) {
  encoder.instruction.kind = InstructionClass::move;
  if (encoder.statement.opcode == "slct") return slct(encoder);
  only_modifiers(encoder, {});
  selp(encoder);
}

void test_property(Encoder& encoder) {
  only_modifiers(encoder, {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  const Type type = encoder.statement.type();
  if (!is_float(type)) encoder.unknown("expected f32 or f64");
  encoder.operands_of(Type::pred, {type});
  for (std::int64_t i = 0; i < 6; ++i) {
    if (encoder.statement.has(kProperties[i])) encoder.instruction.immediate = i;
  }
  encoder.instruction.kind = class_of(type);
  execute_with(encoder, type == Type::f32 ? &test_lanes<float> : &test_lanes<double>);
}

}  // namespace halfgrad::emulator
