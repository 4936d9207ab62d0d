// PTX ISA, "Integer Arithmetic Instructions": add min max of u16x2 and s16x2.

#include <halfgrad/emulator/ptx/instructions/pages.h>
#include <halfgrad/emulator/ptx/instructions/selection.h>

#include <algorithm>

namespace halfgrad::emulator {
namespace {

struct AddPacked {
  template <class T>
  static int compute(T a, T b) {
    return a + b;
  }
};

struct MinimumOfPacked {
  template <class T>
  static int compute(T a, T b) {
    return std::min(a, b);
  }
};

struct MaximumOfPacked {
  template <class T>
  static int compute(T a, T b) {
    return std::max(a, b);
  }
};

template <class F>
struct ThenReluOfPacked {
  template <class T>
  static int compute(T a, T b) {
    return std::max(F::compute(a, b), 0);
  }
};

template <class F, class T>
struct OnPair {
  std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const {
    const int low = F::compute(static_cast<T>(a), static_cast<T>(b));
    const int high = F::compute(static_cast<T>(a >> 16), static_cast<T>(b >> 16));
    return static_cast<std::uint32_t>(high) << 16 | (static_cast<std::uint32_t>(low) & 0xffff);
  }
};

template <class F>
Execute select_packed(Type type, bool relu) {
  if (type == Type::u16x2) {
    return relu ? nullptr : uniform<OnPair<F, std::uint16_t>, std::uint32_t, 2>();
  }
  return relu ? uniform<OnPair<ThenReluOfPacked<F>, std::int16_t>, std::uint32_t, 2>()
              : uniform<OnPair<F, std::int16_t>, std::uint32_t, 2>();
}

}  // namespace

void packed_integers(Encoder& encoder) {
  only_modifiers(encoder, {"relu"});
  const Type type = encoder.statement.type();
  const bool relu = encoder.statement.has("relu");
  const std::string_view opcode = encoder.statement.opcode;
  uniform_operands(encoder, type, 2);
  if (opcode == "min") return execute_with(encoder, select_packed<MinimumOfPacked>(type, relu));
  if (opcode == "max") return execute_with(encoder, select_packed<MaximumOfPacked>(type, relu));
  execute_with(encoder, opcode == "add" && !relu ? select_packed<AddPacked>(type, false) : nullptr);
}

}  // namespace halfgrad::emulator
