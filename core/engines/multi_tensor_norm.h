#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <halfgrad/core/engines/multi_tensor.h>
#include <halfgrad/core/engines/reduce.h>
#include <halfgrad/core/math/math.h>

/// The norm of a list of tensors, with what follows from it, in one pass: one launch on a GPU.
/// Clipping under a GradScaler needs the norm, whether all elements are finite, and a handful of
/// scalars computed from both.
namespace halfgrad::detail {

/// One tensor of the list, and what belongs to it. Float32 or 16-bit, contiguous.
template <class Item>
struct NormedTensor {
  const Array* array;
  Item item;
};

/// Applies `r` to x * factor, and sets *found_inf unless every x is finite.
template <class R>
struct CheckedReduction : R {
  float factor;
  float* found_inf;

  CheckedReduction(const R& r, float by, float* flag) : R(r), factor(by), found_inf(flag) {}

  template <class T>
  HG_HD T map(T x) const {
    if (!all(math::isfinite(x))) raise_flag(found_inf);
    return R::map(x * T(factor));
  }
};

template <class R, class Finish>
void multi_tensor_norm_on_cpu(const R& r,
                              const std::vector<NormedTensor<typename Finish::Item>>& tensors,
                              const float* factor, const Finish& finish) {
  const auto count = static_cast<std::int64_t>(tensors.size());
  const Array norms = Array::empty({count}, DType::f32);
  float found_inf = 0;
  const CheckedReduction<R> checked(r, factor != nullptr ? *factor : 1, &found_inf);
  for (std::int64_t i = 0; i < count; ++i) {
    const Array& x = *tensors[static_cast<std::size_t>(i)].array;
    reduce_on_cpu<float>(checked, norms.select(0, i), x, kAllDims);
  }
  const Array total = Array::empty({}, DType::f32);
  reduce_on_cpu<float>(r, total, norms, kAllDims);
  finish.once(*total.data_as<float>(), found_inf != 0, finish.before());
  for (const auto& tensor : tensors) finish.each(tensor.item, found_inf != 0);
}

/// Runs on a GPU: core/cuda/engines/multi_tensor_norm_cuda.h.
template <class R, class Finish>
bool multi_tensor_norm_on_cuda(const R& r,
                               const std::vector<NormedTensor<typename Finish::Item>>& tensors,
                               const float* factor, const Finish& finish);
template <class Item>
bool fits_multi_tensor_norm_on_cuda(std::span<const Array> tensors);

/// Returns whether the list fits in one launch; always true on the CPU.
template <class Item>
bool fits_multi_tensor_norm(std::span<const Array> tensors) {
  if constexpr (kWithCuda) {
    if (!tensors.empty() && tensors[0].device().is_cuda()) {
      return fits_multi_tensor_norm_on_cuda<Item>(tensors);
    }
  }
  return true;
}

/// Reduces each tensor times *factor by `r`, rounds the results to float32, and reduces those. The
/// bits are those of multi_tensor_reduce() after a multiplication in place. A factor of null is 1.
/// Then calls, on the device,
///
///   auto before = finish.before();                 // reads what once() will change
///   finish.once(float total, bool found_inf, before);
///   finish.each(item, found_inf);                  // for every tensor
///
/// each on one thread, the last two in any order, where found_inf tells whether an element, not
/// multiplied, is inf or NaN. Returns false, and does nothing, if the list is empty or does not fit
/// in one launch.
template <class R, class Finish>
bool multi_tensor_norm(const R& r, const std::vector<NormedTensor<typename Finish::Item>>& tensors,
                       const float* factor, const Finish& finish) {
  if (tensors.empty()) return false;
  if constexpr (kWithCuda) {
    if (tensors[0].array->device().is_cuda()) {
      return multi_tensor_norm_on_cuda(r, tensors, factor, finish);
    }
  }
  if constexpr (kWithCpu) multi_tensor_norm_on_cpu(r, tensors, factor, finish);
  return true;
}

}  // namespace halfgrad::detail

#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/multi_tensor_norm_cuda.h>
#endif
