#pragma once

#include <algorithm>
#include <cstdint>

#include <halfgrad/core/array.h>
#include <halfgrad/tests/core/gemm/gemm_matrix.h>

namespace halfgrad {

/// A copy of a matrix on the GPU, and views of it.
class MatrixOnGpu {
 public:
  explicit MatrixOnGpu(const Matrix& matrix) : view_(matrix.view()) {
    const auto bytes = static_cast<std::int64_t>(matrix.bytes().size());
    const Array on_cpu = Array::empty({bytes}, kByte);
    std::copy(matrix.bytes().begin(), matrix.bytes().end(), on_cpu.data_as<char>());
    memory_ = on_cpu.to(kCUDA);
  }

  MatrixView view() const {
    MatrixView view = view_;
    view.data = memory_.data();
    view.device = memory_.device();
    return view;
  }
  MutableMatrixView mutable_view() const {
    return {memory_.data(),   view_.dtype,      view_.rows,      view_.cols,
            view_.row_stride, view_.col_stride, memory_.device()};
  }
  /// Returns `matrix` with the elements that the GPU has now.
  Matrix fetched(Matrix matrix) const {
    const Array on_cpu = memory_.to(Device());
    std::copy_n(on_cpu.data_as<const char>(), on_cpu.numel(),
                static_cast<char*>(matrix.view().data));
    return matrix;
  }

 private:
  MatrixView view_;
  Array memory_;
};

}  // namespace halfgrad
