#pragma once

#include <cstdint>

#include <halfgrad/core/array.h>

/// cross_entropy of classes as one kernel in each direction. Logits x [n, c] are float32 or 16-bit,
/// contiguous and aligned to 16 bytes; targets are int64 [n], contiguous.
///
/// The results have the same bits as those of the kernels that cross_entropy.cu, the row engine and
/// the reduction engine launch one after the other for x widened to float32.
namespace halfgrad::detail {

/// Returns false for other operands, for n = 0 or n > 2^23, and for few long rows.
bool class_total_takes(const Array& x, const Array& target);

/// The outputs of class_total_on_cuda, on x's device.
struct ClassTotal {
  Array loss;     ///< [], of any floating dtype
  Array kept;     ///< undefined, or a copy of `loss`
  Array lse;      ///< float32 [n]
  Array classes;  ///< int32 [n]: the target of each row, -1 where it is ignored
  Array count;    ///< float32 []: the number of rows that are not ignored
};

/// loss = sum_r (lse_r - x_rt) [/ count],  lse_r = log(sum_j exp(x_rj))
///
/// Leaves out rows whose target is `ignore_index`, and divides if `mean`. Reports targets that are
/// out of range as indices.h does.
void class_total_on_cuda(const Array& x, const Array& target, std::int64_t ignore_index, bool mean,
                         const ClassTotal& out);

/// dx_rj = dloss [/ count] (exp(x_rj - lse_r) - [j = t]), 0 in ignored rows
///
/// dloss [] has any floating dtype.
void class_total_gradient_on_cuda(const Array& dloss, const Array& x, bool mean,
                                  const ClassTotal& total, const Array& dx);

/// The operands of class_total_on_cuda by their addresses, for a gradient that does not wait for
/// it: Array::data() would, once it is late work (core/late_work.h).
struct ClassOperands {
  ClassOperands(const Array& x, const Array& target, std::int64_t ignore);

  std::byte* logits;
  const std::int64_t* targets;
  std::int64_t ignore_index;
};

/// True for at most 32 classes and 4096 rows, whose lse and count cost little.
bool class_gradient_from_operands_takes(const Array& x);

/// As class_total_gradient_on_cuda, with the same bits, but reads no results of the forward kernel.
void class_gradient_from_operands_on_cuda(const Array& dloss, const Array& x, bool mean,
                                          const ClassOperands& operands, const Array& dx);

}  // namespace halfgrad::detail
