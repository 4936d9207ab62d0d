#include <halfgrad/autograd/ops/shared/indices.h>

#include <stdexcept>

#include <halfgrad/core/cuda/kernels/indices.h>
#include <halfgrad/core/fail.h>

namespace halfgrad::detail {
namespace {

[[noreturn]] void refuse(const char* op, std::int64_t size, std::int64_t index) {
  fail<std::out_of_range>(op, "expected indices >= 0 and below the size {}, got {}", size, index);
}

}  // namespace

Array checked_indices(const char* op, const Array& index, std::int64_t size) {
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32) {
    fail(op, "expected indices of int64 or int32, got {}", index.dtype());
  }
  const Array indices = index.to(DType::i64).contiguous();
  if (indices.device().is_cuda()) {
    if (size == 0 && indices.numel() > 0) refuse(op, size, 0);  // every index is out of range
    return checked_indices_on_cuda(op, indices, size);
  }
  const auto* const values = indices.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < indices.numel(); ++i) {
    if (values[i] < 0 || values[i] >= size) refuse(op, size, values[i]);
  }
  return indices;
}

}  // namespace halfgrad::detail
