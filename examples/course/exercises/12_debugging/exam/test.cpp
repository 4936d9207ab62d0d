#include <stdexcept>

#include "exam.h"

namespace {

using Dtypes = std::vector<Dtype>;

// Whether read_as throws std::runtime_error.
bool throws(Precision precision, const Dtypes& operands, Dtype fast) {
  try {
    read_as(precision, operands, fast);
  } catch (const std::runtime_error&) {
    return true;
  }
  return false;
}

}  // namespace

std::string test() {
  using enum Dtype;
  using enum Precision;
  if (read_as(tensor_core, {f32, f32}, f16) != Dtypes{f16, f16}) return "tensor_core: two f32";
  // solution begin
  // blank: if (throws(any, {f16}, f16)) return "any: throws";
  // blank: return "";  // and the other classes, dtypes, regions?
  const Dtypes all = {i64, f16, bf16, f32, f64};
  for (const Dtype fast : {f16, bf16}) {
    if (read_as(any, all, fast) != all) return "any changes a dtype";
    if (read_as(tensor_core, all, fast) != Dtypes{i64, fast, fast, fast, f64}) {
      return "tensor_core";
    }
    if (read_as(wide_range, all, fast) != Dtypes{i64, f32, f32, f32, f64}) return "wide_range";
    for (const Dtype first : {f16, bf16, f32}) {
      if (read_as(wide_accumulate, {first, f16}, fast) != Dtypes{f32, f16}) {
        return "wide_accumulate";
      }
    }
    if (read_as(widest_operand, {fast, f32, i64}, fast) != Dtypes{f32, f32, i64}) {
      return "widest_operand with an f32";
    }
    if (read_as(widest_operand, {fast, fast}, fast) != Dtypes{fast, fast}) {
      return "widest_operand in 16 bits";
    }
    if (read_as(widest_operand, {f64, fast}, fast) != Dtypes{f64, fast}) {
      return "widest_operand with an f64";
    }
    if (!throws(widest_operand, {fast, fast == f16 ? bf16 : f16}, fast)) {
      return "widest_operand accepts two 16-bit dtypes";
    }
    if (!throws(unsafe, {f32}, fast)) return "unsafe runs";
  }
  return "";
  // solution end
}
