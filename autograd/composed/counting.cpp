#include <halfgrad/autograd/composed/counting.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <halfgrad/autograd/composed/writing.h>
#include <halfgrad/autograd/creation.h>
#include <halfgrad/autograd/graph/op.h>
#include <halfgrad/autograd/ops.h>
#include <halfgrad/autograd/ops/shared/view.h>
#include <halfgrad/core/engines/sorting.h>
#include <halfgrad/core/fail.h>

namespace halfgrad {
namespace {

// Returns for each element v of `values` [..., m] how many elements of the same row of `sequence`
// [..., n] are less than v, or less than or equal to v if `right`. It sorts both together. Since
// the sort is stable, the order in which they are joined decides about equal elements.
Tensor count_before(const Tensor& sequence, const Tensor& values, bool right) {
  const auto in_order = [right](const Tensor& a, const Tensor& b) {
    return right ? cat({a, b}, -1) : cat({b, a}, -1);
  };
  const Tensor order = argsort(in_order(sequence, values), -1);
  const Tensor is_sequence = in_order(ones_like(sequence, kLong), zeros_like(values, kLong));
  const Tensor counts = cumsum(gather(is_sequence, -1, order), -1);
  const Tensor unsorted = scatter_add(zeros_like(counts), -1, order, counts);
  return narrow(unsorted, -1, right ? sequence.size(-1) : 0, values.size(-1));
}

Tensor as_index(const Tensor& counts, bool out_int32) {
  return out_int32 ? to(counts, kInt) : counts;
}

// Returns a dtype in which elements of both dtypes can be compared. float32 would round integers.
DType comparable_dtype(const Tensor& a, const Tensor& b) {
  const DType dtype = promote_types(a.dtype(), b.dtype());
  return is_floating_point(dtype) ? kFloat64 : dtype;
}

Tensor inverted_if(bool invert, const Tensor& found) { return invert ? ~found : found; }

[[noreturn]] void refuse_sequence(const Shape& sequence, const Shape& self) {
  detail::fail("searchsorted",
               "expected a sequence that is a vector, or of self's sizes but for the last, got {} "
               "and self {}",
               sequence, self);
}

bool is_right(bool right, std::optional<std::string_view> side) {
  if (side && (*side != "left" || right) && *side != "right") {
    detail::fail("searchsorted",
                 "expected side \"right\", or \"left\" without right = true, got \"{}\"", *side);
  }
  return right || side == "right";
}

Tensor sorted_by(const Tensor& sorter, const Tensor& sequence) {
  if (!sorter.defined()) return sequence;
  if (sorter.sizes() != sequence.sizes()) {
    detail::fail("searchsorted", "expected a sorter of the sequence's shape {}, got {}",
                 sequence.sizes(), sorter.sizes());
  }
  return gather(sequence, -1, sorter);
}

}  // namespace

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool /*assume_unique*/,
            bool invert) {
  const DType dtype = detail::result_type(std::array{elements, test_elements});
  const Tensor x = to(elements.detach(), dtype), flat = flatten(x);
  const Tensor tests = flatten(to(test_elements.detach(), dtype));
  const Tensor is_found = count_before(tests, flat, true) > count_before(tests, flat, false);
  const Tensor is_no_nan = flat == flat;
  return inverted_if(invert, reshape(is_found & is_no_nan, x.sizes()));
}
Tensor isin(const Tensor& elements, Scalar test_element, bool /*assume_unique*/, bool invert) {
  return inverted_if(invert, elements == test_element);
}
Tensor isin(Scalar element, const Tensor& test_elements, bool /*assume_unique*/, bool invert) {
  return inverted_if(invert, any(test_elements == element));
}

Tensor bincount(const Tensor& self, const Tensor& weights, std::int64_t minlength) {
  if (self.dim() != 1 || self.is_floating_point() || self.dtype() == kBool) {
    detail::fail("bincount", "expected a vector of integers, got {} of shape {}", self.dtype(),
                 self.sizes());
  }
  if (minlength < 0) detail::fail("bincount", "expected minlength >= 0, got {}", minlength);
  if (weights.defined() && weights.sizes() != self.sizes()) {
    detail::fail("bincount", "expected weights of shape {}, got {}", self.sizes(), weights.sizes());
  }
  if (self.numel() == 0) return zeros({minlength}, {.dtype = kLong, .device = self.device()});
  const Tensor values = to(self, kLong);
  const auto smallest = min(values).item<std::int64_t>();
  const auto largest = max(values).item<std::int64_t>();
  constexpr std::int64_t kLimit = std::int64_t{1} << 48;
  if (smallest < 0 || largest >= kLimit) {
    detail::fail("bincount", "expected integers in [0, {}), got {}", kLimit,
                 smallest < 0 ? smallest : largest);
  }
  const Tensor added = !weights.defined()            ? ones_like(values)
                       : weights.dtype() == kFloat32 ? weights.detach()
                                                     : to(weights.detach(), kFloat64);
  const Tensor counts =
      zeros({std::max(minlength, largest + 1)}, {.dtype = added.dtype(), .device = self.device()});
  return scatter_add(counts, 0, values, added);
}

Tensor histc(const Tensor& self, std::int64_t bins, Scalar min, Scalar max) {
  if (!self.is_floating_point()) {
    detail::fail("histc", "expected a floating-point dtype, got {}", self.dtype());
  }
  if (bins < 1) detail::fail("histc", "expected bins >= 1, got {}", bins);
  const Tensor values = to(flatten(self.detach()), kFloat64);
  double low = min.to<double>(), high = max.to<double>();
  const bool is_given = low != high || values.numel() == 0;
  if (!is_given) {
    low = amin(values).item<double>();
    high = amax(values).item<double>();
  }
  if (low == high) low -= 1, high += 1;
  if (!std::isfinite(low) || !std::isfinite(high) || low >= high) {
    detail::fail("histc", "expected finite bounds with min <= max, got {} and {}", low, high);
  }
  const Tensor inside =
      is_given ? masked_select(values, (values >= low) & (values <= high)) : values;
  // Halves cannot overflow: high - low can.
  const Tensor shares = (inside / 2 - low / 2) / (high / 2 - low / 2);
  const Tensor places = clamp_max(to(shares * bins, kLong), bins - 1);
  return to(bincount(places, {}, bins), self.dtype());
}

Tensor searchsorted(const Tensor& sorted_sequence, const Tensor& self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  if (side || sorter.defined()) {
    return searchsorted(sorted_by(sorter, sorted_sequence), self, out_int32, is_right(right, side));
  }
  if (sorted_sequence.dtype() != self.dtype()) {
    const DType dtype = comparable_dtype(sorted_sequence, self);
    return searchsorted(to(sorted_sequence, dtype), to(self, dtype), out_int32, right);
  }
  const bool is_vector = sorted_sequence.dim() == 1;
  if (!is_vector) {
    Shape sizes = self.sizes();
    const bool has_rows = self.dim() > 1 && self.dim() == sorted_sequence.dim();
    if (has_rows) sizes[sizes.size() - 1] = sorted_sequence.size(-1);
    if (!has_rows || sizes != sorted_sequence.sizes()) {
      refuse_sequence(sorted_sequence.sizes(), self.sizes());
    }
  }
  const Tensor values = is_vector ? flatten(self) : self;
  const Tensor counts(detail::count_before("searchsorted", sorted_sequence.array().contiguous(),
                                           values.array().contiguous(), right));
  return as_index(detail::unsafe_view(counts, self.sizes()), out_int32);
}

Tensor searchsorted(const Tensor& sorted_sequence, Scalar self, bool out_int32, bool right,
                    std::optional<std::string_view> side, const Tensor& sorter) {
  if (side || sorter.defined()) {
    return searchsorted(sorted_by(sorter, sorted_sequence), self, out_int32, is_right(right, side));
  }
  if (sorted_sequence.dim() != 1) refuse_sequence(sorted_sequence.sizes(), {});
  const CreationOptions count{.dtype = kLong, .device = sorted_sequence.device()};
  const double value = self.to<double>();
  if (sorted_sequence.is_floating_point()) {
    const Tensor values =
        to(full({}, value, {.dtype = kFloat64, .device = count.device}), sorted_sequence.dtype());
    return searchsorted(sorted_sequence, values, out_int32, right);
  }
  const Tensor sequence = to(sorted_sequence, kLong);
  if (!self.isFloatingPoint()) {
    return searchsorted(sequence, full({}, self.to<std::int64_t>(), count), out_int32, right);
  }
  // Values outside the range of int64, and NaN.
  if (!(value < 0x1p63)) return as_index(full({}, sequence.numel(), count), out_int32);
  if (value < -0x1p63) return as_index(full({}, 0, count), out_int32);
  const double below = std::floor(value);
  const Tensor values = full({}, static_cast<std::int64_t>(below), count);
  return searchsorted(sequence, values, out_int32, right || below != value);
}

Tensor bucketize(const Tensor& self, const Tensor& boundaries, bool out_int32, bool right) {
  if (boundaries.dim() != 1) {
    detail::fail("bucketize", "expected boundaries that are a vector, got {}", boundaries.sizes());
  }
  return searchsorted(boundaries, self, out_int32, right);
}
Tensor bucketize(Scalar self, const Tensor& boundaries, bool out_int32, bool right) {
  return searchsorted(boundaries, self, out_int32, right);
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse,
                                                      bool return_counts) {
  const CreationOptions integers{.dtype = kLong, .device = self.device()};
  const Tensor flat = flatten(self);
  const std::int64_t count = flat.numel();
  Tensor begins = ones({count}, {.dtype = kBool, .device = self.device()});
  if (count > 1) {
    begins = cat({narrow(begins, 0, 0, 1),
                  ne(narrow(flat, 0, 1, count - 1), narrow(flat, 0, 0, count - 1))});
  }
  const Tensor places = flatten(nonzero(begins));
  Tensor inverse = zeros({0}, integers), counts = inverse;
  if (return_inverse) inverse = reshape(cumsum(begins, 0) - 1, self.sizes());
  if (return_counts && count > 0) {
    counts = cat({narrow(places, 0, 1, places.numel() - 1), full({1}, count, integers)}) - places;
  }
  return {index_select(flat, 0, places), inverse, counts};
}

std::tuple<Tensor, Tensor, Tensor> _unique2(const Tensor& self, bool /*sorted*/,
                                            bool return_inverse, bool return_counts) {
  const auto [sorted, order] = sort(flatten(self.detach()));
  auto [distinct, inverse, counts] = unique_consecutive(sorted, return_inverse, return_counts);
  if (return_inverse) {
    inverse = reshape(scatter_add(zeros_like(order), 0, order, inverse), self.sizes());
  }
  return {distinct, inverse, counts};
}

Tensor argwhere(const Tensor& self) { return nonzero(self); }

}  // namespace halfgrad
