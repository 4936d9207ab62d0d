#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>

#include <halfgrad/autograd/tensor.h>

/// Counting, searching and runs of equal elements, composed of the ops of ops.h. No result has a
/// gradient, except the output of unique_consecutive().
namespace halfgrad {

/// True where an element equals one of test_elements; with `invert` false there. NaN equals
/// nothing. Sorts both, so assume_unique changes nothing.
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);
Tensor isin(const Tensor& elements, Scalar test_element, bool assume_unique = false,
            bool invert = false);
Tensor isin(Scalar element, const Tensor& test_elements, bool assume_unique = false,
            bool invert = false);

/// How often each integer 0, 1, ... occurs in a vector, int64, or the sum of its weights: float32
/// for weights of float32, else float64. The result has at least `minlength` elements. The host
/// waits for a GPU. Throws std::invalid_argument unless self is a vector of integers >= 0, weights
/// have its shape, and minlength >= 0.
Tensor bincount(const Tensor& self, const Tensor& weights = {}, std::int64_t minlength = 0);
/// The counts of elements in `bins` intervals of one width from `min` to `max`, the last of which
/// holds its upper end: a vector of self's dtype. Elements outside and NaN are not counted. Equal
/// bounds stand for the smallest and the largest element; if these are equal, for one less and one
/// more. The host waits for a GPU. Throws std::invalid_argument unless self is floating point,
/// bins >= 1, and the bounds are finite with min <= max.
Tensor histc(const Tensor& self, std::int64_t bins = 100, Scalar min = 0, Scalar max = 0);

/// The index at which each element of self can be put into the sorted sequence: before equal
/// elements, or after them if `right`. The sequence is a vector, or has self's dimensions but for
/// the last, and is sorted along the last. The result has self's shape, int64 or int32. NaN is
/// above infinity. Sorts both together, in their promoted dtype, float64 if one is floating point.
/// `side`, "left" or "right", is another way to say `right`. With `sorter`, which has the indices
/// that sort it, as argsort() returns them, the sequence need not be sorted.
/// Throws std::invalid_argument for other shapes, and for right = true with side "left".
Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32 = false,
                    bool right = false, std::optional<std::string_view> side = std::nullopt,
                    const Tensor& sorter = {});
/// The same index for one value, as a 0-dimensional tensor. The sequence is a vector. A value that
/// an integer sequence cannot hold is compared exactly; for others it is rounded to their dtype.
Tensor searchsorted(const Tensor& sorted_sequence, Scalar self, bool out_int32 = false,
                    bool right = false, std::optional<std::string_view> side = std::nullopt,
                    const Tensor& sorter = {});
/// searchsorted(boundaries, self): the interval between boundaries that holds each element, with
/// its upper bound or, if `right`, its lower bound. Boundaries are a vector.
Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32 = false,
                 bool right = false);
Tensor bucketize(Scalar self, const Tensor& boundaries, bool out_int32 = false, bool right = false);

/// The flattened elements without those that equal the one before; the index into these for each
/// element of self, of its shape; and the lengths of the runs. The last two, int64, are empty
/// unless they are asked for. Each NaN is a run. The host waits for a GPU.
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self,
                                                      bool return_inverse = false,
                                                      bool return_counts = false);
/// The distinct elements of a tensor, always sorted, with the same second and third result. (The
/// Python function torch.unique calls it; libtorch has no other name.)
std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool sorted = true,
                                            bool return_inverse = false,
                                            bool return_counts = false);
/// nonzero().
Tensor argwhere(const Tensor& self);

}  // namespace halfgrad
