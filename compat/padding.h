#pragma once

#include <halfgrad/compat/names.h>

#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/compat/option.h>
#include <halfgrad/core/numbers/scalar.h>

namespace halfgrad {

/// The source of the elements of a border: one number, the input mirrored without its edge, its
/// edge repeated, or its other end.
enum class PadMode { constant, reflect, replicate, circular };
inline constexpr PadMode kConstant = PadMode::constant;
inline constexpr PadMode kReflect = PadMode::reflect;
inline constexpr PadMode kReplicate = PadMode::replicate;
inline constexpr PadMode kCircular = PadMode::circular;

/// Adds elements before and after the last dimensions. `pad` is (before, after) for the last
/// dimension, then for the one before it, and so on; a negative number removes elements. Throws
/// std::invalid_argument for an odd number of them, for more pairs than dimensions, and for
/// removing more elements than there are.
Tensor constant_pad_nd(const Tensor& self, const std::vector<std::int64_t>& pad, Scalar value = 0);

namespace nn::functional {

struct PadFuncOptions {
  PadFuncOptions(std::vector<std::int64_t> pad) : pad_(std::move(pad)) {}
  TORCH_ARG(std::vector<std::int64_t>, pad);
  TORCH_ARG(PadMode, mode) = kConstant;
  TORCH_ARG(double, value) = 0;
};

/// constant_pad_nd(), or the same with elements of the input: reflect needs a border shorter than
/// the dimension, circular one that is not longer, and replicate at least one element.
Tensor pad(const Tensor& input, const PadFuncOptions& options);

}  // namespace nn::functional
}  // namespace halfgrad
