#pragma once

#include <vector>

#include <halfgrad/autograd/precision.h>
#include <halfgrad/core/dtype.h>

/// The dtypes in which an op of this precision class reads its operands inside an autocast region
/// whose 16-bit dtype is `fast`: kHalf or kBFloat16. `given` holds the dtypes that the caller
/// passed.
///
/// Operands of float64, and integers, are never cast. Throws std::runtime_error for an unsafe op.
std::vector<halfgrad::DType> read_dtypes(halfgrad::Precision precision,
                                         const std::vector<halfgrad::DType>& given,
                                         halfgrad::DType fast);
