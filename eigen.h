#pragma once

/// Maps tensors as Eigen matrices, and Eigen matrices as tensors, without copying. No other header
/// includes this one: a program that does needs Eigen 3.4 on its include path (CMake: link
/// Eigen3::Eigen).

#if !__has_include(<Eigen/Core>)
#error \
    "halfgrad/eigen.h: expected Eigen 3.4, got no <Eigen/Core>; link the CMake target Eigen3::Eigen"
#endif

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include <Eigen/Core>

#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/grad_mode.h>
#include <halfgrad/autograd/tensor.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {

namespace detail {

/// The storage type of an Eigen scalar. Eigen::half and Eigen::bfloat16 have the bits of Half and
/// BFloat16.
template <class T>
struct StorageOfEigen {
  using type = T;
};
template <>
struct StorageOfEigen<Eigen::half> {
  using type = Half;
};
template <>
struct StorageOfEigen<Eigen::bfloat16> {
  using type = BFloat16;
};
template <class T>
using EigenStorage = typename StorageOfEigen<std::remove_const_t<T>>::type;

/// A scalar type that has arithmetic in Eigen and a dtype here. Half and BFloat16 have none: name
/// Eigen::half and Eigen::bfloat16 instead.
template <class T>
concept EigenScalar = Stored<EigenStorage<T>> && !std::same_as<std::remove_const_t<T>, Half> &&
                      !std::same_as<std::remove_const_t<T>, BFloat16>;

/// Row-major, because tensors are; Eigen requires column-major of a column vector.
template <class T, int Rows, int Cols>
using EigenMatrix = Eigen::Matrix<T, Rows, Cols, Cols == 1 && Rows != 1 ? 0 : Eigen::RowMajor>;

template <class T, int Dims>
using EigenPlain = EigenMatrix<std::remove_const_t<T>, Eigen::Dynamic, Dims == 1 ? 1 : -1>;

template <class Derived>
inline constexpr bool kIsEigenVector =
    Derived::RowsAtCompileTime == 1 || Derived::ColsAtCompileTime == 1;

/// An Eigen object whose elements are in memory and may be written: Matrix, Array, Map, Ref, Block.
template <class Derived>
concept EigenMemory = std::derived_from<Derived, Eigen::DenseBase<Derived>> &&
                          EigenScalar<typename Derived::Scalar> &&
                          (Derived::Flags& Eigen::DirectAccessBit) != 0 &&
                      (Derived::Flags & Eigen::LvalueBit) != 0;

constexpr std::string_view eigen_scalar(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "double";
    case DType::f32:
      return "float";
    case DType::f16:
      return "Eigen::half";
    case DType::bf16:
      return "Eigen::bfloat16";
    case DType::i64:
      return "std::int64_t";
    case DType::i32:
      return "std::int32_t";
    case DType::i16:
      return "std::int16_t";
    case DType::i8:
      return "std::int8_t";
    case DType::u8:
      return "std::uint8_t";
    case DType::boolean:
      return "bool";
  }
  return "?";
}

inline void check_eigen_map(const Tensor& tensor, DType dtype, int dims) {
  if (tensor.dtype() != dtype) {
    fail("eigen_map",
         "expected a tensor of {}, got {}; map it as eigen_map<{}>, or convert it first", dtype,
         tensor.dtype(), eigen_scalar(tensor.dtype()));
  }
  if (tensor.dim() != dims) {
    if (dims == 1) {
      fail("eigen_map",
           "expected a vector, got shape {}; take eigen_map<{}> for a matrix, or flatten() it",
           tensor.sizes(), eigen_scalar(dtype));
    }
    fail("eigen_map",
         "expected a matrix, got shape {}; take eigen_map<{}, 1> for a vector, or reshape() it",
         tensor.sizes(), eigen_scalar(dtype));
  }
  if (!tensor.is_cpu()) {
    fail("eigen_map", "expected a tensor on the CPU, got one on {}; map what its cpu() returns",
         tensor.device());
  }
}

/// Counts the change that a writable map allows, as an op in place would.
inline void prepare_eigen_writes(const Tensor& tensor) {
  if (tensor.requires_grad() && GradMode::is_enabled()) {
    fail("eigen_map",
         "expected a tensor that does not require grad, got one that does: autograd does not see "
         "what Eigen writes; read it by a const map, or write inside NoGradGuard");
  }
  if (tensor.array().repeats_elements()) {
    fail("eigen_map",
         "expected elements with memory of their own, got shape {} with strides {}; clone() it "
         "first",
         tensor.sizes(), tensor.strides());
  }
  tensor.array().storage()->bump_version();
}

}  // namespace detail

/// A matrix, or with Dims = 1 a column vector, in a tensor's memory and with its strides.
/// `EigenMap<const float>` only reads.
template <class T, int Dims = 2>
using EigenMap =
    Eigen::Map<std::conditional_t<std::is_const_v<T>, const detail::EigenPlain<T, Dims>,
                                  detail::EigenPlain<T, Dims>>,
               Eigen::Unaligned, Eigen::Stride<Eigen::Dynamic, Eigen::Dynamic>>;

/// The tensor's elements as an Eigen matrix of shape [rows, columns], or with Dims = 1 as a column
/// vector; nothing is copied. T is the tensor's own scalar: double, float, Eigen::half,
/// Eigen::bfloat16, std::int64_t, std::int32_t, std::int16_t, std::int8_t, std::uint8_t or bool. A
/// const T or a const tensor gives a map that only reads.
///
///     auto w = eigen_map<float>(weight);            // [n, m]
///     auto b = eigen_map<const float, 1>(bias);     // [n], read only
///
/// The map does not keep the memory alive: it must not outlive the tensor, and mapping a temporary
/// does not compile.
///
/// Throws std::invalid_argument for another dtype or number of dimensions, and for a tensor that is
/// not on the CPU. A writable map also throws for a tensor that requires grad outside NoGradGuard
/// and for an expanded one, as an in-place op does. A writable map counts as one in-place change
/// when it is made, so backward() reports a tensor that was saved before. Autograd does not
/// see later writes: map the tensor again after it took part in a graph. Map it again also after
/// writes by data_ptr<Half>() or accessor(): g++ assumes that Half and Eigen::half never alias.
template <class T, int Dims = 2>
EigenMap<const T, Dims> eigen_map(const Tensor& tensor) {
  static_assert(detail::EigenScalar<T>,
                "eigen_map: expected the Eigen scalar of a dtype, such as float or Eigen::half");
  static_assert(Dims == 1 || Dims == 2, "eigen_map: expected 2 dimensions, or 1 for a vector");
  using Element = detail::EigenStorage<T>;
  detail::check_eigen_map(tensor, dtype_of<Element>(), Dims);
  // A fence for the compiler: it may assume that Half and Eigen::half never alias, and then read an
  // element through the map before an earlier write of a Half.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const auto* const data = reinterpret_cast<const T*>(tensor.array().data_as<Element>());
  if constexpr (Dims == 1) {
    return {data, tensor.size(0), {0, tensor.stride(0)}};
  } else {
    return {data, tensor.size(0), tensor.size(1), {tensor.stride(0), tensor.stride(1)}};
  }
}
template <class T, int Dims = 2>
EigenMap<T, Dims> eigen_map(Tensor& tensor) {
  const EigenMap<const T, Dims> map = eigen_map<const T, Dims>(std::as_const(tensor));
  if constexpr (std::is_const_v<T>) {
    return map;
  } else {
    detail::prepare_eigen_writes(tensor);
    auto* const data = const_cast<T*>(map.data());
    return {data, map.rows(), map.cols(), {map.outerStride(), map.innerStride()}};
  }
}
template <class T, int Dims = 2>
void eigen_map(const Tensor&& temporary) = delete;  // its memory may be freed at the semicolon

/// A copy of any dense Eigen expression, row- or column-major, as a row-major tensor on the CPU. A
/// vector at compile time becomes shape [n], all else [rows, columns]. The dtype is the
/// expression's own: a MatrixXd gives float64; `from_eigen(m.cast<float>())` gives float32.
template <class Derived>
Tensor from_eigen(const Eigen::DenseBase<Derived>& expression) {
  using T = typename Derived::Scalar;
  static_assert(detail::EigenScalar<T>,
                "from_eigen: expected a scalar with a dtype; cast<float>() or cast<int64_t>() it");
  using Element = detail::EigenStorage<T>;
  constexpr int kRows = Derived::RowsAtCompileTime;
  constexpr int kCols = Derived::ColsAtCompileTime;
  const Shape sizes = detail::kIsEigenVector<Derived> ? Shape{expression.size()}
                                                      : Shape{expression.rows(), expression.cols()};
  const Tensor tensor(Array::empty(sizes, dtype_of<Element>()));
  Eigen::Map<detail::EigenMatrix<T, kRows, kCols>> map(
      reinterpret_cast<T*>(tensor.array().data_as<Element>()), expression.rows(),
      expression.cols());
  if constexpr (std::derived_from<Derived, Eigen::ArrayBase<Derived>>) {
    map = expression.derived().matrix();
  } else {
    map.noalias() = expression.derived();
  }
  return tensor;
}

/// A tensor on the CPU that shares the matrix's memory, so writes to one change both. The shape is
/// that of from_eigen(), and the strides are the matrix's: a column-major matrix gives a tensor
/// that is not contiguous. The matrix must outlive every tensor that shares it and must not be
/// resized; a temporary or const matrix does not compile. Autograd does not see what Eigen writes.
template <detail::EigenMemory Derived>
Tensor share_eigen(Derived& matrix) {
  using Element = detail::EigenStorage<typename Derived::Scalar>;
  const bool is_vector = detail::kIsEigenVector<Derived>;
  const Shape sizes = is_vector ? Shape{matrix.size()} : Shape{matrix.rows(), matrix.cols()};
  const Shape strides =
      is_vector ? Shape{matrix.innerStride()} : Shape{matrix.rowStride(), matrix.colStride()};
  return Tensor(Array::from_blob(matrix.data(), sizes, strides, dtype_of<Element>(), nullptr));
}
template <class Derived>
void share_eigen(const Derived& temporary_or_const) = delete;

}  // namespace halfgrad
