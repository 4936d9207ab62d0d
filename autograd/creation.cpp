#include <halfgrad/autograd/creation.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>

#include <halfgrad/autograd/graph/op_name.h>
#include <halfgrad/core/engines/sequences.h>
#include <halfgrad/core/fail.h>
#include <halfgrad/core/random.h>

namespace halfgrad {
namespace {

thread_local constinit Device default_device;
constinit std::atomic<DType> default_dtype = kFloat;

Device device_of(const CreationOptions& options) {
  return options.device.value_or(get_default_device());
}

Tensor with_options(const Array& array, const CreationOptions& options) {
  Tensor result(array.to(device_of(options)));
  if (options.requires_grad) result.requires_grad_();
  return result;
}

Array empty_array(const Shape& sizes, const CreationOptions& options,
                  DType otherwise = get_default_dtype()) {
  return Array::empty(sizes, options.dtype.value_or(otherwise), device_of(options));
}

Array filled(const char* op, const Shape& sizes, Scalar value, DType dtype,
             const CreationOptions& options) {
  return detail::with_op_name(op, "empty",
                              [&] { return Array::full(sizes, value, dtype, device_of(options)); });
}

// An array that `fill` fills with values of dtype `computed`, in the dtype of the options.
template <class F>
Tensor filled_by(const F& fill, const Shape& sizes, const CreationOptions& options, DType computed,
                 DType otherwise) {
  const Array values = Array::empty(sizes, computed, device_of(options));
  fill(values);
  return with_options(values.to(options.dtype.value_or(otherwise)), options);
}

// The number of values start, start + step, ... before end; none if the step has the wrong sign.
std::optional<std::int64_t> steps_between(double start, double end, double step) {
  const double steps = (end - start) / step;
  if (!(steps >= 0) || std::isinf(steps)) return std::nullopt;
  return static_cast<std::int64_t>(std::ceil(steps));
}
std::optional<std::int64_t> steps_between(std::int64_t start, std::int64_t end, std::int64_t step) {
  if (step == 0 || (step > 0 ? end < start : end > start)) return std::nullopt;
  const auto magnitude = [](std::int64_t from, std::int64_t to) {
    return from < to ? static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from)
                     : static_cast<std::uint64_t>(from) - static_cast<std::uint64_t>(to);
  };
  const std::uint64_t distance = magnitude(start, end);
  const std::uint64_t stride = magnitude(0, step);
  return static_cast<std::int64_t>(distance / stride + (distance % stride != 0 ? 1 : 0));
}

// T is int64 or double.
template <class T>
Tensor arange_of(Scalar start, Scalar end, Scalar step, const CreationOptions& options) {
  const T from = start.to<T>();
  const T by = step.to<T>();
  const std::optional<std::int64_t> steps = steps_between(from, end.to<T>(), by);
  if (!steps) {
    throw halfgrad::detail::Raised<std::invalid_argument>(
        "arange: expected a step that leads from start to end, got start " + std::to_string(from) +
        ", end " + std::to_string(end.to<T>()) + ", step " + std::to_string(by));
  }
  const DType dtype = options.dtype.value_or(std::is_integral_v<T> ? kLong : get_default_dtype());
  // As in PyTorch, integers are whole steps from a whole start; fractions count for the size alone.
  if (!is_floating_point(dtype)) {
    const auto whole_start = static_cast<std::int64_t>(from);
    const auto whole_step = static_cast<std::int64_t>(by);
    return filled_by(
        [&](const Array& out) { detail::fill_steps("arange", out, whole_start, whole_step); },
        {*steps}, options, kLong, dtype);
  }
  return filled_by([&](const Array& out) { detail::fill_steps("arange", out, from, by); }, {*steps},
                   options, dtype_of<T>(), dtype);
}

CreationOptions completed(CreationOptions options, const Tensor& like) {
  if (!options.dtype) options.dtype = like.dtype();
  if (!options.device) options.device = like.device();
  return options;
}

}  // namespace

void set_default_device(Device device) { default_device = device; }
Device get_default_device() { return default_device; }

void set_default_dtype(DType dtype) {
  if (!is_floating_point(dtype)) {
    detail::fail("set_default_dtype", "expected a floating-point dtype, got {}", dtype);
  }
  default_dtype = dtype;
}
DType get_default_dtype() { return default_dtype; }

Tensor empty(const Shape& sizes, const CreationOptions& options) {
  return with_options(empty_array(sizes, options), options);
}
Tensor zeros(const Shape& sizes, const CreationOptions& options) {
  const DType dtype = options.dtype.value_or(get_default_dtype());
  return with_options(filled("zeros", sizes, 0, dtype, options), options);
}
Tensor ones(const Shape& sizes, const CreationOptions& options) {
  const DType dtype = options.dtype.value_or(get_default_dtype());
  return with_options(filled("ones", sizes, 1, dtype, options), options);
}
Tensor full(const Shape& sizes, Scalar value, const CreationOptions& options) {
  const DType kind = is_floating_point(value.kind()) ? get_default_dtype() : value.kind();
  const DType dtype = options.dtype.value_or(kind);
  return with_options(filled("full", sizes, value, dtype, options), options);
}

Tensor arange(Scalar end, const CreationOptions& options) { return arange(0, end, 1, options); }
Tensor arange(Scalar start, Scalar end, const CreationOptions& options) {
  return arange(start, end, 1, options);
}
Tensor arange(Scalar start, Scalar end, Scalar step, const CreationOptions& options) {
  const DType kind =
      promote_types(promote_types(start.kind(), end.kind()), promote_types(step.kind(), kLong));
  return kind == kLong ? arange_of<std::int64_t>(start, end, step, options)
                       : arange_of<double>(start, end, step, options);
}

Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const CreationOptions& options) {
  double first = start.to<double>(), last = end.to<double>();
  if (options.dtype && !is_floating_point(*options.dtype)) {  // whole ends, as in PyTorch
    first = std::trunc(first);
    last = std::trunc(last);
  }
  const auto fill = [&](const Array& out) { detail::fill_between("linspace", out, first, last); };
  return detail::with_op_name("linspace", "empty", [&] {
    return filled_by(fill, {steps}, options, kDouble, get_default_dtype());
  });
}

Tensor eye(std::int64_t n, const CreationOptions& options) { return eye(n, n, options); }
Tensor eye(std::int64_t n, std::int64_t m, const CreationOptions& options) {
  const auto fill = [](const Array& out) { detail::fill_identity("eye", out); };
  return detail::with_op_name("eye", "empty", [&] {
    return filled_by(fill, {n, m}, options, kDouble, get_default_dtype());
  });
}

Tensor rand(const Shape& sizes, const CreationOptions& options) {
  const Array numbers =
      detail::with_op_name("rand", "empty", [&] { return empty_array(sizes, options); });
  random::uniform(numbers, 0, 1, default_generator().take());
  return with_options(numbers, options);
}
Tensor randn(const Shape& sizes, const CreationOptions& options) {
  const Array numbers =
      detail::with_op_name("randn", "empty", [&] { return empty_array(sizes, options); });
  random::normal(numbers, 0, 1, default_generator().take());
  return with_options(numbers, options);
}
Tensor randint(std::int64_t high, const Shape& sizes, const CreationOptions& options) {
  return randint(0, high, sizes, options);
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& sizes,
               const CreationOptions& options) {
  if (low >= high) detail::fail("randint", "expected low < high, got {} and {}", low, high);
  const Array numbers =
      detail::with_op_name("randint", "empty", [&] { return empty_array(sizes, options, kLong); });
  random::integer(numbers, low, high, default_generator().take());
  return with_options(numbers, options);
}
Tensor randperm(std::int64_t n, const CreationOptions& options) {
  if (n < 0) detail::fail("randperm", "expected n >= 0, got {}", n);
  const Array order = random::permutation(n, default_generator().take(), device_of(options));
  return with_options(order.to(options.dtype.value_or(kLong)), options);
}

Tensor empty_like(const Tensor& like, const CreationOptions& options) {
  return empty(like.sizes(), completed(options, like));
}
Tensor zeros_like(const Tensor& like, const CreationOptions& options) {
  return zeros(like.sizes(), completed(options, like));
}
Tensor ones_like(const Tensor& like, const CreationOptions& options) {
  return ones(like.sizes(), completed(options, like));
}
Tensor full_like(const Tensor& like, Scalar value, const CreationOptions& options) {
  return full(like.sizes(), value, completed(options, like));
}
Tensor rand_like(const Tensor& like, const CreationOptions& options) {
  return rand(like.sizes(), completed(options, like));
}
Tensor randn_like(const Tensor& like, const CreationOptions& options) {
  return randn(like.sizes(), completed(options, like));
}

namespace detail {

Tensor TensorMethods::new_empty(const Shape& sizes, const CreationOptions& options) const {
  return empty(sizes, completed(options, self()));
}
Tensor TensorMethods::new_zeros(const Shape& sizes, const CreationOptions& options) const {
  return zeros(sizes, completed(options, self()));
}
Tensor TensorMethods::new_ones(const Shape& sizes, const CreationOptions& options) const {
  return ones(sizes, completed(options, self()));
}
Tensor TensorMethods::new_full(const Shape& sizes, Scalar value,
                               const CreationOptions& options) const {
  return full(sizes, value, completed(options, self()));
}

Tensor copy_of(const void* data, std::int64_t count, DType dtype, const Shape& sizes,
               const CreationOptions& options) {
  const Array values = Array::empty(sizes, dtype);
  if (count != values.numel()) {
    fail("tensor", "expected {} elements for a shape of {}, got {}", values.numel(), sizes, count);
  }
  if (count > 0) {
    std::memcpy(values.data(), data, static_cast<std::size_t>(count * item_size(dtype)));
  }
  return with_options(values.to(options.dtype.value_or(dtype)), options);
}

void refuse_ragged_list(const Shape& first, const Shape& other) {
  fail("tensor", "expected lists of one shape, got {} and {}", first, other);
}

}  // namespace detail
}  // namespace halfgrad
