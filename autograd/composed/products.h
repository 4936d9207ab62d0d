#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/autograd/dims.h>
#include <halfgrad/autograd/tensor.h>

/// Products of tensors, composed of matmul() and addmm(). Operands have one dtype and one device
/// unless the comment says otherwise; integers wrap around, and only on the CPU.
namespace halfgrad {

/// Sums products over pairs of dimensions: dims_self[i] of self and dims_other[i] of other, of
/// equal sizes or one of size 1. The result has the other dimensions of self, then those of other.
/// Throws std::invalid_argument for lists of different lengths, repeated dimensions and other
/// sizes.
Tensor tensordot(const Tensor& self, const Tensor& other, const Dims& dims_self,
                 const Dims& dims_other);
/// Sums products over the last dimension of both, of equal sizes; the product if one of the two
/// has no dimensions.
Tensor inner(const Tensor& self, const Tensor& other);
/// The Kronecker product, each element of self times the whole of other: the size of dimension i
/// is the product of both sizes. The shorter shape gets ones in front. Operands promote. Throws
/// std::invalid_argument for more than 4 dimensions.
Tensor kron(const Tensor& self, const Tensor& other);

/// beta * self + alpha * mat @ vec, for mat [n, m] and vec [m]; self is [n], [1] or [].
/// With beta 0 self is not read, with alpha 0 neither mat nor vec. Throws std::invalid_argument for
/// other shapes, and for a fraction as a factor of integers.
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta = 1,
             Scalar alpha = 1);
/// beta * self + alpha * outer(vec1, vec2), [n, m]; self broadcasts to it. Factors are as in
/// addmv().
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta = 1,
            Scalar alpha = 1);
/// outer().
Tensor ger(const Tensor& self, const Tensor& vec2);

/// dot(): the values are real.
Tensor vdot(const Tensor& self, const Tensor& other);
/// beta * self + alpha * the sum of the products of matrices batch1[i] @ batch2[i], for batches
/// [b, n, m] and [b, m, p]; self broadcasts to [n, p]. With beta 0 self is not read. Throws
/// std::invalid_argument for other shapes.
Tensor addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta = 1,
              Scalar alpha = 1);

/// The product of matrices in the order that needs the fewest multiplications. Throws
/// std::invalid_argument for no matrix, and for sizes that do not fit.
Tensor chain_matmul(const std::vector<Tensor>& matrices);
/// The product of n copies of each matrix [..., m, m], by repeated squaring; 16-bit results are
/// rounded after each product. n = 0 gives identity matrices. Throws std::invalid_argument for
/// n < 0 and other shapes.
Tensor matrix_power(const Tensor& self, std::int64_t n);

}  // namespace halfgrad
