#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <halfgrad/autograd/tensor.h>

/// Every op, by kind; each lives in ops/<name>.cpp, where its formula, gradient and precision stand.
/// Names, argument order and semantics are libtorch's. Operands broadcast and promote as in PyTorch.
namespace halfgrad {

// --- Arithmetic (ops/arithmetic.cpp) ---
Tensor add(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor sub(const Tensor& self, const Tensor& other, Scalar alpha = 1);
Tensor mul(const Tensor& self, const Tensor& other);
Tensor div(const Tensor& self, const Tensor& other);
Tensor neg(const Tensor& self);

Tensor operator+(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a, const Tensor& b);
Tensor operator*(const Tensor& a, const Tensor& b);
Tensor operator/(const Tensor& a, const Tensor& b);
Tensor operator-(const Tensor& a);
Tensor operator+(const Tensor& a, Scalar b);
Tensor operator-(const Tensor& a, Scalar b);
Tensor operator*(const Tensor& a, Scalar b);
Tensor operator/(const Tensor& a, Scalar b);
Tensor operator+(Scalar a, const Tensor& b);
Tensor operator-(Scalar a, const Tensor& b);
Tensor operator*(Scalar a, const Tensor& b);
Tensor operator/(Scalar a, const Tensor& b);

// --- Views (ops/views.cpp): share the storage ---
Tensor reshape(const Tensor& self, const Shape& sizes);
Tensor transpose(const Tensor& self, std::int64_t dim0, std::int64_t dim1);
Tensor permute(const Tensor& self, const Shape& dims);
Tensor squeeze(const Tensor& self);
Tensor squeeze(const Tensor& self, std::int64_t dim);
Tensor unsqueeze(const Tensor& self, std::int64_t dim);
Tensor expand(const Tensor& self, const Shape& sizes);
Tensor slice(const Tensor& self, std::int64_t dim = 0,
             std::optional<std::int64_t> start = std::nullopt,
             std::optional<std::int64_t> end = std::nullopt, std::int64_t step = 1);
Tensor select(const Tensor& self, std::int64_t dim, std::int64_t index);
Tensor flatten(const Tensor& self, std::int64_t start_dim = 0, std::int64_t end_dim = -1);

// --- Conversion (ops/cast.cpp) ---
/// Differentiable: the gradient is cast back.
Tensor to(const Tensor& self, DType dtype);
Tensor to(const Tensor& self, Device device);
Tensor clone(const Tensor& self);
Tensor contiguous(const Tensor& self);

// --- Reductions (ops/reductions.cpp); no dims: over all; result f32 or wider accumulates wide ---
Tensor sum(const Tensor& self, std::optional<DType> dtype = std::nullopt);
Tensor sum(const Tensor& self, const Shape& dim, bool keepdim = false,
           std::optional<DType> dtype = std::nullopt);
/// Sums the dimensions along which `self` was broadcast from `sizes`.
Tensor sum_to_size(const Tensor& self, const Shape& sizes);

namespace detail {

/// target += source, in place, unrecorded; shapes broadcast to the target's.
void add_into(const Array& target, const Array& source);

}  // namespace detail

}  // namespace halfgrad
