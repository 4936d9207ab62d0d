#include <halfgrad/autograd/ops/indices.h>

#include <stdexcept>
#include <string>

namespace halfgrad::detail {

Array checked_indices(const char* op, const Array& index, std::int64_t size) {
  if (index.dtype() != DType::i64 && index.dtype() != DType::i32) {
    throw std::invalid_argument(std::string(op) + ": expected indices of int64 or int32, got " +
                                std::string(name(index.dtype())));
  }
  Array indices = index.to(DType::i64).contiguous();
  const auto* const values = indices.data_as<std::int64_t>();
  for (std::int64_t i = 0; i < indices.numel(); ++i) {
    if (values[i] < 0 || values[i] >= size) {
      throw std::out_of_range(std::string(op) + ": expected indices >= 0 and below the size " +
                              std::to_string(size) + ", got " + std::to_string(values[i]));
    }
  }
  return indices;
}

}  // namespace halfgrad::detail
