#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include <halfgrad/autograd/creation_options.h>
#include <halfgrad/autograd/tensor.h>

/// New tensors: constant, random, or with the caller's elements. Names and semantics are
/// libtorch's. Random tensors are drawn from default_generator().
namespace halfgrad {

/// The device of this thread's new tensors and modules if their options name none; the CPU at
/// first. See torch.set_default_device.
void set_default_device(Device device);
Device get_default_device();

Tensor empty(const Shape& sizes, const CreationOptions& options = {});
Tensor zeros(const Shape& sizes, const CreationOptions& options = {});
Tensor ones(const Shape& sizes, const CreationOptions& options = {});
/// dtype when absent: get_default_dtype(), int64 or bool, as `value` is. Throws
/// std::invalid_argument for a value outside the range of the dtype.
Tensor full(const Shape& sizes, Scalar value, const CreationOptions& options = {});

/// start, start + step, ... before end; dtype when absent: int64 if all three are integers.
/// Throws std::invalid_argument if step is 0 or has the wrong sign, or an argument is not finite.
Tensor arange(Scalar end, const CreationOptions& options = {});
Tensor arange(Scalar start, Scalar end, const CreationOptions& options = {});
Tensor arange(Scalar start, Scalar end, Scalar step, const CreationOptions& options = {});
/// `steps` evenly spaced values, both ends included.
Tensor linspace(Scalar start, Scalar end, std::int64_t steps, const CreationOptions& options = {});
/// Ones on the diagonal of [n, m]; m is n when absent.
Tensor eye(std::int64_t n, const CreationOptions& options = {});
Tensor eye(std::int64_t n, std::int64_t m, const CreationOptions& options = {});

/// Uniform on [0, 1).
Tensor rand(const Shape& sizes, const CreationOptions& options = {});
/// Standard normal.
Tensor randn(const Shape& sizes, const CreationOptions& options = {});
/// Integers on [low, high); dtype when absent: int64. Throws std::invalid_argument for low >= high.
Tensor randint(std::int64_t high, const Shape& sizes, const CreationOptions& options = {});
Tensor randint(std::int64_t low, std::int64_t high, const Shape& sizes,
               const CreationOptions& options = {});
/// 0 ... n-1 in random order; dtype when absent: int64.
Tensor randperm(std::int64_t n, const CreationOptions& options = {});

/// The functions above with the shape of `like`, and its dtype and device when absent.
Tensor empty_like(const Tensor& like, const CreationOptions& options = {});
Tensor zeros_like(const Tensor& like, const CreationOptions& options = {});
Tensor ones_like(const Tensor& like, const CreationOptions& options = {});
Tensor full_like(const Tensor& like, Scalar value, const CreationOptions& options = {});
Tensor rand_like(const Tensor& like, const CreationOptions& options = {});
Tensor randn_like(const Tensor& like, const CreationOptions& options = {});

Tensor empty(const Shape& sizes, detail::OneOption auto option) {
  return empty(sizes, detail::only(option));
}
Tensor zeros(const Shape& sizes, detail::OneOption auto option) {
  return zeros(sizes, detail::only(option));
}
Tensor ones(const Shape& sizes, detail::OneOption auto option) {
  return ones(sizes, detail::only(option));
}
Tensor full(const Shape& sizes, Scalar value, detail::OneOption auto option) {
  return full(sizes, value, detail::only(option));
}
Tensor arange(Scalar end, detail::OneOption auto option) {
  return arange(end, detail::only(option));
}
Tensor arange(Scalar start, Scalar end, detail::OneOption auto option) {
  return arange(start, end, detail::only(option));
}
Tensor arange(Scalar start, Scalar end, Scalar step, detail::OneOption auto option) {
  return arange(start, end, step, detail::only(option));
}
Tensor linspace(Scalar start, Scalar end, std::int64_t steps, detail::OneOption auto option) {
  return linspace(start, end, steps, detail::only(option));
}
Tensor eye(std::int64_t n, detail::OneOption auto option) { return eye(n, detail::only(option)); }
Tensor eye(std::int64_t n, std::int64_t m, detail::OneOption auto option) {
  return eye(n, m, detail::only(option));
}
Tensor rand(const Shape& sizes, detail::OneOption auto option) {
  return rand(sizes, detail::only(option));
}
Tensor randn(const Shape& sizes, detail::OneOption auto option) {
  return randn(sizes, detail::only(option));
}
Tensor randint(std::int64_t high, const Shape& sizes, detail::OneOption auto option) {
  return randint(high, sizes, detail::only(option));
}
Tensor randint(std::int64_t low, std::int64_t high, const Shape& sizes,
               detail::OneOption auto option) {
  return randint(low, high, sizes, detail::only(option));
}
Tensor randperm(std::int64_t n, detail::OneOption auto option) {
  return randperm(n, detail::only(option));
}
Tensor empty_like(const Tensor& like, detail::OneOption auto option) {
  return empty_like(like, detail::only(option));
}
Tensor zeros_like(const Tensor& like, detail::OneOption auto option) {
  return zeros_like(like, detail::only(option));
}
Tensor ones_like(const Tensor& like, detail::OneOption auto option) {
  return ones_like(like, detail::only(option));
}
Tensor full_like(const Tensor& like, Scalar value, detail::OneOption auto option) {
  return full_like(like, value, detail::only(option));
}
Tensor rand_like(const Tensor& like, detail::OneOption auto option) {
  return rand_like(like, detail::only(option));
}
Tensor randn_like(const Tensor& like, detail::OneOption auto option) {
  return randn_like(like, detail::only(option));
}

namespace detail {

/// Copies numel(sizes) elements from `data`. Throws std::invalid_argument if `count` differs.
Tensor copy_of(const void* data, std::int64_t count, DType dtype, const Shape& sizes,
               const CreationOptions& options);

template <class T>
concept Literal = std::is_arithmetic_v<T>;

/// A type that holds every T: int64 or double.
template <class T>
using Collected = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// A type that a DType stores.
template <class T>
concept Stored = std::same_as<T, double> || std::same_as<T, float> || std::same_as<T, Half> ||
    std::same_as<T, BFloat16> || std::same_as<T, std::int64_t> || std::same_as<T, std::int32_t> ||
    std::same_as<T, std::int16_t> || std::same_as<T, std::int8_t> ||
    std::same_as<T, std::uint8_t> || std::same_as<T, bool>;

/// The dtype of a tensor made of a list of T, as in libtorch: get_default_dtype() for float and
/// double, int64 for int and longer integers; bool and the types of 8 and 16 bits stay.
template <class T>
DType literal_dtype() {
  if constexpr (Stored<T> && sizeof(T) < sizeof(std::int32_t)) {
    return dtype_of<T>();
  } else {
    return std::is_integral_v<T> ? kLong : get_default_dtype();
  }
}

/// The options, with the dtype of a list of T if they name none.
template <class T>
CreationOptions for_list_of(CreationOptions options) {
  if (!options.dtype) options.dtype = literal_dtype<T>();
  return options;
}

[[noreturn]] void refuse_ragged_list(const Shape& first, const Shape& other);

/// Appends the elements of a list of lists (of lists ...) to `values`, and sets `sizes` to its
/// shape.
template <class T, class Number>
void flatten_list(T value, Shape& sizes, std::vector<Number>& values) {
  sizes = {};
  values.push_back(static_cast<Number>(value));
}
template <class T, class Number>
void flatten_list(std::initializer_list<T> list, Shape& sizes, std::vector<Number>& values) {
  Shape inner;
  bool first = true;
  for (const T& item : list) {
    Shape found;
    flatten_list(item, found, values);
    if (!first && found != inner) refuse_ragged_list(inner, found);
    inner = found;
    first = false;
  }
  inner.insert(0, static_cast<std::int64_t>(list.size()));
  sizes = inner;
}

template <class T, class List>
Tensor tensor_of_list(const List& list, const CreationOptions& options) {
  Shape sizes;
  std::vector<Collected<T>> values;
  flatten_list(list, sizes, values);
  return copy_of(values.data(), static_cast<std::int64_t>(values.size()), dtype_of<Collected<T>>(),
                 sizes, for_list_of<T>(options));
}

}  // namespace detail

/// Literals: `tensor(2.5)`, `tensor({1, 2, 3})`, `tensor({{1.0, 2.0}, {3.0, 4.0}})`. dtype when
/// absent: get_default_dtype() for float and double, int64 for int and longer integers, else that
/// of the type. Throws std::invalid_argument for lists of unequal length.
template <detail::Literal T>
Tensor tensor(T value, const CreationOptions& options = {}) {
  return detail::tensor_of_list<T>(value, options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const CreationOptions& options = {}) {
  return detail::tensor_of_list<T>(values, options);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values,
              const CreationOptions& options = {}) {
  return detail::tensor_of_list<T>(values, options);
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              const CreationOptions& options = {}) {
  return detail::tensor_of_list<T>(values, options);
}

Tensor tensor(detail::Literal auto value, detail::OneOption auto option) {
  return tensor(value, detail::only(option));
}
template <class T>
Tensor tensor(std::initializer_list<T> values, detail::OneOption auto option) {
  return tensor(values, detail::only(option));
}
template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<T>> values,
              detail::OneOption auto option) {
  return tensor(values, detail::only(option));
}

template <class T>
Tensor tensor(std::initializer_list<std::initializer_list<std::initializer_list<T>>> values,
              detail::OneOption auto option) {
  return tensor(values, detail::only(option));
}

/// Copies the caller's elements, in row-major order. dtype when absent as for literals: doubles
/// become get_default_dtype(), as in libtorch, unless `{.dtype = kDouble}` says otherwise. Throws
/// std::invalid_argument unless values.size() is numel(sizes).
template <detail::Stored T>
Tensor tensor(std::span<const T> values, const Shape& sizes, const CreationOptions& options = {}) {
  return detail::copy_of(values.data(), static_cast<std::int64_t>(values.size()), dtype_of<T>(),
                         sizes, detail::for_list_of<T>(options));
}
template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& sizes,
              const CreationOptions& options = {}) {
  if constexpr (detail::Stored<T> && !std::same_as<T, bool>) {
    return tensor(std::span<const T>(values), sizes, options);
  } else {  // vector<bool> stores bits; other integers may have no dtype
    std::vector<std::int64_t> integers;
    for (const T value : values) integers.push_back(Scalar(value).to<std::int64_t>());
    return tensor(integers, sizes, detail::for_list_of<T>(options));
  }
}
template <class T>
Tensor tensor(const std::vector<T>& values, const CreationOptions& options = {}) {
  return tensor(values, {static_cast<std::int64_t>(values.size())}, options);
}

template <class T>
Tensor tensor(const std::vector<T>& values, detail::OneOption auto option) {
  return tensor(values, detail::only(option));
}
template <class T>
Tensor tensor(const std::vector<T>& values, const Shape& sizes, detail::OneOption auto option) {
  return tensor(values, sizes, detail::only(option));
}

}  // namespace halfgrad
