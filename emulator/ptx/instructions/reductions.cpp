// Reductions of elements in memory, for copies that reduce (PTX ISA, "cp.reduce.async.bulk",
// "red.async").
#include <halfgrad/emulator/ptx/instructions/reductions.h>

#include <cstring>
#include <string_view>
#include <utility>

#include <halfgrad/emulator/ptx/instructions/atomic_place.h>

namespace halfgrad::emulator {
namespace {

template <AtomicOperation Op, class T, class Bits>
void reduce(std::byte* place, const std::byte* operand, bool shared) {
  Bits bits;
  std::memcpy(&bits, operand, sizeof bits);
  replace<Bits>(place, shared, [&](Bits old) {
    return result_bits<Bits>(combine<Op>(std::bit_cast<T>(old), std::bit_cast<T>(bits), !shared));
  });
}

template <class T, class Bits>
Reduction arithmetic_reduction(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::add:
      return reduce<AtomicOperation::add, T, Bits>;
    case AtomicOperation::min:
      return reduce<AtomicOperation::min, T, Bits>;
    case AtomicOperation::max:
      return reduce<AtomicOperation::max, T, Bits>;
    default:
      return nullptr;
  }
}

template <class Bits>
Reduction bitwise_reduction(AtomicOperation operation) {
  switch (operation) {
    case AtomicOperation::bitwise_and:
      return reduce<AtomicOperation::bitwise_and, Bits, Bits>;
    case AtomicOperation::bitwise_or:
      return reduce<AtomicOperation::bitwise_or, Bits, Bits>;
    case AtomicOperation::bitwise_xor:
      return reduce<AtomicOperation::bitwise_xor, Bits, Bits>;
    default:
      return nullptr;
  }
}

Reduction unsigned_words(AtomicOperation operation) {
  using U32 = std::uint32_t;
  if (operation == AtomicOperation::increment) {
    return reduce<AtomicOperation::increment, U32, U32>;
  }
  if (operation == AtomicOperation::decrement) {
    return reduce<AtomicOperation::decrement, U32, U32>;
  }
  return arithmetic_reduction<U32, U32>(operation);
}

constexpr std::pair<std::string_view, AtomicOperation> kOperations[] = {
    {"add", AtomicOperation::add},       {"min", AtomicOperation::min},
    {"max", AtomicOperation::max},       {"and", AtomicOperation::bitwise_and},
    {"or", AtomicOperation::bitwise_or}, {"xor", AtomicOperation::bitwise_xor},
    {"inc", AtomicOperation::increment}, {"dec", AtomicOperation::decrement},
    {"exch", AtomicOperation::exchange}, {"cas", AtomicOperation::compare_and_swap}};

}  // namespace

AtomicOperation atomic_operation_of(const Encoder& encoder) {
  for (const auto& [name, operation] : kOperations) {
    if (encoder.statement.has(name)) return operation;
  }
  encoder.unknown("unknown atomic operation");
}

Reduction reduction_of(AtomicOperation operation, Type type) {
  switch (type) {
    case Type::b32:
      return bitwise_reduction<std::uint32_t>(operation);
    case Type::b64:
      return bitwise_reduction<std::uint64_t>(operation);
    case Type::u32:
      return unsigned_words(operation);
    case Type::s32:
      return arithmetic_reduction<std::int32_t, std::uint32_t>(operation);
    case Type::u64:
      return arithmetic_reduction<std::uint64_t, std::uint64_t>(operation);
    case Type::s64:
      return arithmetic_reduction<std::int64_t, std::uint64_t>(operation);
    case Type::f16:
      return arithmetic_reduction<Half<F16>, std::uint16_t>(operation);
    case Type::bf16:
      return arithmetic_reduction<Half<BF16>, std::uint16_t>(operation);
    case Type::f32:
      return operation == AtomicOperation::add ? reduce<AtomicOperation::add, float, std::uint32_t>
                                               : nullptr;
    case Type::f64:
      return operation == AtomicOperation::add ? reduce<AtomicOperation::add, double, std::uint64_t>
                                               : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace halfgrad::emulator
