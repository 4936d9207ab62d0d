#pragma once

#include <string>
#include <vector>

/// The code under test: autocast's policy, as docs/mixed-precision.md lists it.

enum class Dtype { i64, f16, bf16, f32, f64 };
enum class Precision { any, tensor_core, wide_range, wide_accumulate, widest_operand, unsafe };

/// Returns the dtypes in which an op of this class reads its operands, in an autocast region whose
/// 16-bit dtype is `fast` (f16 or bf16). Integers and f64 are read as they are.
///
///     any              all operands as they are
///     tensor_core      all in `fast`
///     wide_range       all in f32
///     wide_accumulate  the first operand in f32, the others as they are
///     widest_operand   all in f32 if one of them is f32, else in `fast`; throws std::runtime_error
///                      if none is f32 and one has the other 16-bit dtype
///     unsafe           throws std::runtime_error
std::vector<Dtype> read_as(Precision precision, std::vector<Dtype> operands, Dtype fast);

/// The student's test: "" if read_as is right, else what is wrong.
std::string test();
