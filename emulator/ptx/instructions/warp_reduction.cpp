// PTX ISA, "Parallel Synchronization and Communication Instructions: redux.sync".
#include <halfgrad/emulator/ptx/instructions/warp.h>

#include <algorithm>
#include <bit>
#include <cmath>

namespace halfgrad::emulator {
namespace {

struct Sum {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a + b; }
};
struct AndWords {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a & b; }
};
struct OrWords {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a | b; }
};
struct XorWords {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a ^ b; }
};
struct MinimumOfValues {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct MaximumOfValues {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};

template <class T, class F>
void execute_reduction(Execution& execution, const Instruction& instruction) {
  const T* values = execution.lanes<T>(instruction.source(0));
  T result = values[first_lane(execution.mask)];
  each_lane(execution.mask & (execution.mask - 1),
            [&](unsigned lane) { result = F{}(result, values[lane]); });
  broadcast(execution.lanes<T>(instruction.operands[0]), result, execution.mask);
}

/// Modifiers of the forms for f32.
struct FloatReduction {
  bool maximum, absolute, keeps_nan;
};

/// NaN only counts with .NaN, where one of them makes the result the canonical NaN; without it the
/// result is NaN only if every value is. -0 is less than +0.
void execute_float_reduction(Execution& execution, const Instruction& instruction) {
  const auto options = instruction.options<FloatReduction>();
  const float* values = execution.lanes<float>(instruction.source(0));
  const float canonical_nan = std::bit_cast<float>(0x7fffffffu);
  bool any_nan = false, any_number = false;
  float result = canonical_nan;
  each_lane(execution.mask, [&](unsigned lane) {
    const float value = options.absolute ? std::fabs(values[lane]) : values[lane];
    if (std::isnan(value)) {
      any_nan = true;
      return;
    }
    const bool less = value < result || (value == result && std::signbit(value));
    if (!any_number || less != options.maximum) result = value;
    any_number = true;
  });
  if (options.keeps_nan && any_nan) result = canonical_nan;
  broadcast(execution.lanes<float>(instruction.operands[0]), result, execution.mask);
}

Execute execute_of_type(const Encoder& encoder, Type type) {
  const Statement& statement = encoder.statement;
  const bool minimum = statement.has("min"), maximum = statement.has("max");
  if (type == Type::f32 && (minimum || maximum)) return execute_float_reduction;
  if (type == Type::b32) {
    if (statement.has("and")) return execute_reduction<std::uint32_t, AndWords>;
    if (statement.has("or")) return execute_reduction<std::uint32_t, OrWords>;
    if (statement.has("xor")) return execute_reduction<std::uint32_t, XorWords>;
  }
  if (type == Type::u32 || type == Type::s32) {
    if (statement.has("add")) return execute_reduction<std::uint32_t, Sum>;
  }
  if (type == Type::u32 && minimum) return execute_reduction<std::uint32_t, MinimumOfValues>;
  if (type == Type::u32 && maximum) return execute_reduction<std::uint32_t, MaximumOfValues>;
  if (type == Type::s32 && minimum) return execute_reduction<std::int32_t, MinimumOfValues>;
  if (type == Type::s32 && maximum) return execute_reduction<std::int32_t, MaximumOfValues>;
  encoder.unknown("no such operation of this type");
}

}  // namespace

void decode_warp_reduction(Encoder& encoder) {
  const Statement& statement = encoder.statement;
  if (!statement.has("sync") || encoder.operands() != 3) {
    encoder.unknown("expected redux.sync d, a, membermask");
  }
  const Type type = statement.type();
  encoder.destination(0, type);
  encoder.source(1, type);
  member_mask(encoder, 2);
  encoder.instruction.set_options(
      FloatReduction{statement.has("max"), statement.has("abs"), statement.has("NaN")});
  encoder.instruction.execute = execute_of_type(encoder, type);
}

}  // namespace halfgrad::emulator
