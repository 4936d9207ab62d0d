#include <algorithm>
#include <stdexcept>

#include "exam.h"

namespace {

bool may_cast(Dtype dtype) {
  return dtype != Dtype::i64 && dtype != Dtype::f64;
  // bug casts_f64: return dtype != Dtype::i64;
  // bug casts_integers: return dtype != Dtype::f64;
}

Dtype widest(const std::vector<Dtype>& operands, Dtype fast) {
  for (const Dtype dtype : operands) {
    if (dtype == Dtype::f32) return dtype;
    // bug first_decides: return dtype == Dtype::f32 ? dtype : fast;
    // bug f64_is_widest: if (dtype == Dtype::f32 || dtype == Dtype::f64) return dtype;
  }
  for (const Dtype dtype : operands) {
    if (may_cast(dtype) && dtype != fast) throw std::runtime_error("two 16-bit dtypes");
    // bug mixes_dtypes:
  }
  return fast;
}

}  // namespace

std::vector<Dtype> read_as(Precision precision, std::vector<Dtype> operands, Dtype fast) {
  const auto cast = [&](Dtype& operand, Dtype dtype) {
    if (may_cast(operand)) operand = dtype;
    // bug narrows_only: if (operand == Dtype::f32) operand = dtype;
  };
  switch (precision) {
    case Precision::any:
      break;
      // bug any_is_fast: for (Dtype& operand : operands) cast(operand, fast); break;
    case Precision::tensor_core:
      for (Dtype& operand : operands) cast(operand, fast);
      // bug always_f16: for (Dtype& operand : operands) cast(operand, Dtype::f16);
      break;
    case Precision::wide_range:
      for (Dtype& operand : operands) cast(operand, Dtype::f32);
      // bug wide_range_is_fast: for (Dtype& operand : operands) cast(operand, fast);
      break;
    case Precision::wide_accumulate:
      if (!operands.empty()) cast(operands[0], Dtype::f32);
      // bug accumulate_casts_all: for (Dtype& operand : operands) cast(operand, Dtype::f32);
      // bug accumulate_in_16_bits: if (!operands.empty()) cast(operands[0], fast);
      break;
    case Precision::widest_operand: {
      const Dtype dtype = widest(operands, fast);
      for (Dtype& operand : operands) cast(operand, dtype);
      break;
    }
    case Precision::unsafe:
      throw std::runtime_error("unsafe in 16 bits");
      // bug unsafe_runs: break;
  }
  return operands;
}
