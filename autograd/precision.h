#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <halfgrad/core/scoped_value.h>

namespace halfgrad {

class Tensor;

/// What 16-bit numbers do to an op: a fact of arithmetic, stated by the op. What to do about it is
/// policy, and lives in amp.
enum class Precision : std::uint8_t {
  any,              ///< as good in 16 bits as its operands are
  tensor_core,      ///< a product with a wide accumulator: what 16-bit hardware is made for
  wide_range,       ///< overflows, or loses what matters, in 16 bits
  wide_accumulate,  ///< 16-bit operands are fine, a 16-bit result is not
  widest_operand,   ///< needs operands of one type; the widest loses nothing
  unsafe,           ///< has no safe 16-bit gradient at all
};

/// A rule for operands: called before every op with the op's name and fact; may replace operands by
/// converted ones (differentiably) or throw. Without amp there is none.
class CastRule {
 public:
  virtual ~CastRule() = default;
  virtual void cast(const char* op, Precision precision, std::span<Tensor> operands) = 0;
  /// The same rule, without what it keeps of past ops: to run ops again once this one has gone.
  virtual std::unique_ptr<CastRule> copy() const = 0;
};

namespace detail {

/// The rule of this thread, or nullptr.
inline thread_local constinit CastRule* cast_rule = nullptr;

/// Installs another rule (nullptr: none) until the end of the scope.
class CastRuleScope : ScopedValue<CastRule*> {
 public:
  [[nodiscard]] explicit CastRuleScope(CastRule* rule) : ScopedValue(cast_rule, rule) {}
};

inline void cast_operands(const char* op, Precision precision, std::span<Tensor> operands) {
  if (cast_rule != nullptr) cast_rule->cast(op, precision, operands);
}

}  // namespace detail

}  // namespace halfgrad
