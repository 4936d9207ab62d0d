#pragma once

#include <halfgrad/compat/names.h>

#include <cstdint>

#include <halfgrad/core/dtype.h>
#include <halfgrad/core/fail.h>

/// libtorch's macros that call a lambda with `scalar_t` as the type of a dtype's elements:
///
///   AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "scale", [&] {
///     scalar_t* p = x.data_ptr<scalar_t>();
///     for (int64_t i = 0; i < x.numel(); ++i) p[i] *= 2;
///   });
///
/// They throw std::invalid_argument for other dtypes. Half and BFloat16 are stored, and widened by
/// `static_cast<float>` to compute.
// NOLINTBEGIN(bugprone-macro-parentheses): types and lambdas cannot be in parentheses
#define HALFGRAD_DISPATCH_CASE(dtype, type, ...) \
  case dtype: {                                  \
    using scalar_t [[maybe_unused]] = type;      \
    return __VA_ARGS__();                        \
  }
#define HALFGRAD_DISPATCH_FLOATING(...)                               \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::f64, double, __VA_ARGS__) \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::f32, float, __VA_ARGS__)
#define HALFGRAD_DISPATCH_INTEGRAL(...)                                     \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::u8, std::uint8_t, __VA_ARGS__)  \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::i8, std::int8_t, __VA_ARGS__)   \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::i16, std::int16_t, __VA_ARGS__) \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::i32, std::int32_t, __VA_ARGS__) \
  HALFGRAD_DISPATCH_CASE(::halfgrad::DType::i64, std::int64_t, __VA_ARGS__)
#define HALFGRAD_DISPATCH(dtype, op, expected, cases)                                           \
  [&] {                                                                                         \
    const ::halfgrad::DType halfgrad_dispatched = dtype;                                        \
    switch (halfgrad_dispatched) {                                                              \
      cases default                                                                             \
          : ::halfgrad::detail::fail(op, "expected " expected ", got {}", halfgrad_dispatched); \
    }                                                                                           \
  }()

#define AT_DISPATCH_FLOATING_TYPES(dtype, op, ...)              \
  HALFGRAD_DISPATCH(dtype, op, "a dtype of float32 or float64", \
                    HALFGRAD_DISPATCH_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(dtype, op, ...)                                       \
  HALFGRAD_DISPATCH(dtype, op, "a dtype of float16, float32 or float64",                          \
                    HALFGRAD_DISPATCH_CASE(::halfgrad::DType::f16, ::halfgrad::Half, __VA_ARGS__) \
                        HALFGRAD_DISPATCH_FLOATING(__VA_ARGS__))
#define AT_DISPATCH_INTEGRAL_TYPES(dtype, op, ...) \
  HALFGRAD_DISPATCH(dtype, op, "an integer dtype", HALFGRAD_DISPATCH_INTEGRAL(__VA_ARGS__))
#define AT_DISPATCH_ALL_TYPES(dtype, op, ...)                             \
  HALFGRAD_DISPATCH(dtype, op, "a dtype of integers, float32 or float64", \
                    HALFGRAD_DISPATCH_FLOATING(__VA_ARGS__)               \
                        HALFGRAD_DISPATCH_INTEGRAL(__VA_ARGS__))
// NOLINTEND(bugprone-macro-parentheses)
