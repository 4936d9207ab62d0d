#pragma once

#include <cstdint>
#include <span>

#include <halfgrad/core/engines/reduce.h>

/// The reduction engine for lists of tensors, used for the gradient norms of clipping.
namespace halfgrad::detail {

/// Runs on the GPU that holds `out`: core/cuda/engines/multi_tensor_reduce_cuda.h.
template <class R>
void multi_tensor_reduce_on_cuda(const R& r, std::span<const Array> in, const Array& out);

/// Sets out[i] to the reduction (see reduce.h) of all elements of in[i], rounded to the dtype of
/// in[i] and then converted to that of `out`, which is contiguous. All arrays are on one device. A
/// GPU needs two launches for every few hundred tensors.
template <class R>
void multi_tensor_reduce(const R& r, std::span<const Array> in, const Array& out) {
  if constexpr (kWithCuda) {
    if (out.device().is_cuda()) return multi_tensor_reduce_on_cuda(r, in, out);
  }
  if constexpr (kWithCpu) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      const Array total = Array::empty({}, in[i].dtype(), in[i].device());
      const unsigned all_dims = (1U << static_cast<unsigned>(in[i].ndim())) - 1;
      reduce(r, in[i].dtype(), total, in[i], all_dims);
      out.select(0, static_cast<std::int64_t>(i)).copy_(total);
    }
  }
}

}  // namespace halfgrad::detail

#if defined(HALFGRAD_CUDA)
#include <halfgrad/core/cuda/engines/multi_tensor_reduce_cuda.h>
#endif
