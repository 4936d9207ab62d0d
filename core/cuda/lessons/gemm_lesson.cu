#include <halfgrad/core/cuda/lessons/gemm_lesson.h>

#include <algorithm>

namespace halfgrad::detail {
namespace {

using Run = void (*)(const GemmParams&, std::int64_t, Device);

Run chosen_lesson() {
  switch (gemm_backend()) {
    case GemmBackend::naive_lesson:
      return gemm_naive;
    case GemmBackend::tiled_lesson:
      return gemm_tiled;
    case GemmBackend::tensor_core_lesson:
      return gemm_tensor_core;
    default:
      return nullptr;
  }
}

template <class T>
T* advanced(T* data, std::int64_t elements, DType dtype) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  return static_cast<Byte*>(data) + elements * item_size(dtype);
}

}  // namespace

bool multiply_by_lesson(const GemmCall& call) {
  const Run run = chosen_lesson();
  const bool takes = call.a.dtype == DType::f16 &&
                     (call.c.dtype == DType::f16 || call.c.dtype == DType::f32) &&
                     call.c.cols <= kMaxGridYZ * kMinBlockCols;
  if (run == nullptr || !takes) return false;
  GemmParams params{call.a.data,
                    call.b.data,
                    call.c.data,
                    call.c.rows,
                    call.c.cols,
                    call.a.cols,
                    call.a.row_stride,
                    call.a.col_stride,
                    call.b.row_stride,
                    call.b.col_stride,
                    call.c.row_stride,
                    call.c.col_stride,
                    call.a_stride,
                    call.b_stride,
                    call.c_stride,
                    static_cast<float>(call.alpha),
                    static_cast<float>(call.beta),
                    call.c.dtype,
                    call.epilogue.bias};
  for (std::int64_t done = 0; done < call.count; done += kMaxGridYZ) {
    params.a = advanced(call.a.data, done * call.a_stride, DType::f16);
    params.b = advanced(call.b.data, done * call.b_stride, DType::f16);
    params.c = advanced(call.c.data, done * call.c_stride, call.c.dtype);
    run(params, std::min(kMaxGridYZ, call.count - done), call.c.device);
  }
  return true;
}

}  // namespace halfgrad::detail
