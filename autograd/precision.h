#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/scoped_value.h>

namespace halfgrad {

class Tensor;

/// How an op behaves in 16 bits: a fact of arithmetic, stated by the op. The policy, which dtype
/// autocast chooses for it, is in amp.
enum class Precision : std::uint8_t {
  any,              ///< as accurate in 16 bits as its operands
  tensor_core,      ///< a product that tensor cores compute from 16-bit operands, summed in float32
  wide_range,       ///< overflows or loses accuracy in 16 bits
  wide_accumulate,  ///< accurate for 16-bit operands, but the result needs 32 bits
  widest_operand,   ///< needs operands of one dtype: the widest of them
  unsafe,           ///< its gradient is not safe in 16 bits
};

/// The enumerator's name: "tensor_core".
constexpr std::string_view name(Precision precision) {
  constexpr std::string_view names[] = {
      "any", "tensor_core", "wide_range", "wide_accumulate", "widest_operand", "unsafe"};
  return names[static_cast<int>(precision)];
}

/// A rule that is called before every op with its name and class. It may replace operands by
/// converted ones, differentiably, or throw. amp::Autocast installs one; otherwise there is none.
class CastRule {
 public:
  virtual ~CastRule() = default;
  virtual void cast(const char* op, Precision precision, std::span<Tensor> operands) = 0;
  /// Returns the dtype that cast() would give the first operand, if the op's own kernel may do the
  /// conversion. Returns nullopt if the op must let cast() do it.
  virtual std::optional<DType> dtype_of(const char* /*op*/, Precision /*precision*/,
                                        const Tensor& /*operand*/) const {
    return std::nullopt;
  }
  /// Returns the same rule with an empty cache, for running ops again after this rule has ended.
  virtual std::unique_ptr<CastRule> copy() const = 0;
};

namespace detail {

/// The cast rule of this thread, or nullptr.
inline thread_local constinit CastRule* cast_rule = nullptr;

/// Installs a cast rule (nullptr: none) until the end of the scope.
class CastRuleScope : ScopedValue<CastRule*> {
 public:
  [[nodiscard]] explicit CastRuleScope(CastRule* rule) : ScopedValue(cast_rule, rule) {}
};

inline void cast_operands(const char* op, Precision precision, std::span<Tensor> operands) {
  if (cast_rule != nullptr) cast_rule->cast(op, precision, operands);
}

}  // namespace detail

}  // namespace halfgrad
