#pragma once

#include <halfgrad/compat/names.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <exception>
#include <iterator>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/error.h>
#include <halfgrad/nn/module.h>

/// Small things of libtorch's namespaces torch, at and c10 that programs use beside tensors.
namespace halfgrad {

/// Thrown by TORCH_CHECK_NOT_IMPLEMENTED.
class NotImplemented : public std::runtime_error {
  using std::runtime_error::runtime_error;
};
// libtorch's names of exceptions. The library throws the first two for wrong positions and
// dimensions, and for other wrong arguments.
using IndexError = detail::Raised<std::out_of_range>;
using ValueError = detail::Raised<std::invalid_argument>;
using TypeError = detail::Raised<std::invalid_argument>;
using NotImplementedError = detail::Raised<NotImplemented>;

namespace detail {

/// "Float", "Half", "Long", ...
const char* libtorch_name(DType dtype);

}  // namespace detail

// libtorch's other names for a dtype.
using Dtype = DType;
using TypeMeta = DType;
// NOLINTBEGIN(readability-identifier-naming): libtorch's names
constexpr DType typeMetaToScalarType(DType dtype) { return dtype; }
constexpr DType scalarTypeToTypeMeta(DType dtype) { return dtype; }
constexpr bool isFloatingType(DType dtype) { return is_floating_point(dtype); }
constexpr bool isIntegralType(DType dtype, bool includeBool) {
  return !is_floating_point(dtype) && (includeBool || dtype != kBool);
}
constexpr std::size_t elementSize(DType dtype) { return item_size(dtype); }
inline const char* toString(DType dtype) { return detail::libtorch_name(dtype); }
// NOLINTEND(readability-identifier-naming)
using std::make_optional;
using std::nullopt_t;
using std::string_view;

/// The integers from `first` on, before `end`.
template <std::integral T>
class IntegerRange {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    explicit Iterator(T value) : value_(value) {}
    T operator*() const { return value_; }
    Iterator& operator++() {
      ++value_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(value_++); }
    friend bool operator==(Iterator a, Iterator b) { return a.value_ == b.value_; }

   private:
    T value_;
  };

  IntegerRange(T first, T end) : first_(first), end_(std::max(first, end)) {}
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(end_); }

 private:
  T first_, end_;
};

/// 0, 1, ... before `end`, for a loop: `for (const auto i : c10::irange(n))`. Empty if end <= 0.
template <std::integral T>
IntegerRange<T> irange(T end) {
  return {T(0), end};
}
/// begin, begin + 1, ... before `end`, with the type of `end`. Empty if end <= begin.
template <std::integral A, std::integral B>
IntegerRange<B> irange(A begin, B end) {
  return {static_cast<B>(begin), end};
}

namespace detail {

/// The text that libtorch prints for a module: as halfgrad's, with "torch::nn::" in front of the
/// names of layers of the library.
std::string libtorch_text(const nn::Module& module);

template <class T>
concept HoldsModule = requires(const T& holder) {
  { *holder.ptr() } -> std::convertible_to<const nn::Module&>;
};

template <class T>
void print_part(std::ostream& out, const T& part) {
  if constexpr (std::is_base_of_v<nn::Module, T>) {
    out << libtorch_text(part);
  } else if constexpr (HoldsModule<T>) {
    out << libtorch_text(*part.ptr());
  } else {
    out << part;
  }
}

}  // namespace detail

/// The parts, printed one after the other. Modules are printed as libtorch does:
/// `str(nn::Linear(2, 3))` is "torch::nn::Linear(in_features=2, out_features=3, bias=true)".
template <class... Parts>
std::string str(const Parts&... parts) {
  std::ostringstream out;
  (detail::print_part(out, parts), ...);
  return out.str();
}

/// The elements of a container, printed with `separator` between them.
template <class Container>
std::string Join(const std::string& separator,  // NOLINT(readability-identifier-naming)
                 const Container& elements) {
  std::ostringstream out;
  bool first = true;
  for (const auto& element : elements) {
    if (!std::exchange(first, false)) out << separator;
    out << element;
  }
  return out.str();
}

/// A new empty file, which is removed at the end of the scope.
class TempFile {
 public:
  explicit TempFile(std::string file_name) : name(std::move(file_name)) {}
  TempFile(TempFile&& other) noexcept : name(std::exchange(other.name, "")) {}
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  TempFile& operator=(TempFile&&) = delete;
  ~TempFile();

  std::string name;
};
/// Makes a file in the folder for temporary files, whose name begins with `prefix`. Throws
/// std::runtime_error if there is none that can be written.
TempFile make_tempfile(const std::string& prefix = "torch-file-");

}  // namespace halfgrad

/// libtorch's names for a check of what the program itself should have made true.
#define TORCH_INTERNAL_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERT(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ASSERTM(...) TORCH_CHECK(__VA_ARGS__)
#define AT_ERROR(...) TORCH_CHECK(false, __VA_ARGS__)
/// libtorch's checks of a value, a type and an index: std::invalid_argument and std::out_of_range.
#define TORCH_CHECK_VALUE(condition, ...) \
  HALFGRAD_CHECK(std::invalid_argument, condition, __VA_ARGS__)
#define TORCH_CHECK_TYPE(condition, ...) \
  HALFGRAD_CHECK(std::invalid_argument, condition, __VA_ARGS__)
#define TORCH_CHECK_INDEX(condition, ...) HALFGRAD_CHECK(std::out_of_range, condition, __VA_ARGS__)
#define TORCH_CHECK_NOT_IMPLEMENTED(condition, ...) \
  HALFGRAD_CHECK(::halfgrad::NotImplemented, condition, __VA_ARGS__)
/// libtorch's checks of two values, whose message has both. They throw std::runtime_error, where
/// libtorch ends the program.
#define TORCH_CHECK_EQ(a, b) HALFGRAD_COMPARE(a, ==, b)
#define TORCH_CHECK_NE(a, b) HALFGRAD_COMPARE(a, !=, b)
#define TORCH_CHECK_LT(a, b) HALFGRAD_COMPARE(a, <, b)
#define TORCH_CHECK_LE(a, b) HALFGRAD_COMPARE(a, <=, b)
#define TORCH_CHECK_GT(a, b) HALFGRAD_COMPARE(a, >, b)
#define TORCH_CHECK_GE(a, b) HALFGRAD_COMPARE(a, >=, b)
#define HALFGRAD_COMPARE(a, relation, b) \
  TORCH_CHECK((a)relation(b), "expected " #a " " #relation " " #b ", got ", (a), " and ", (b))

/// Throws std::runtime_error with the printed parts unless `condition` is true.
#define TORCH_CHECK(condition, ...) HALFGRAD_CHECK(std::runtime_error, condition, __VA_ARGS__)

#define HALFGRAD_CHECK(Error, condition, ...)                                                  \
  do {                                                                                         \
    if (!(condition)) {                                                                        \
      const std::string torch_check_text = ::halfgrad::str(__VA_ARGS__);                       \
      throw halfgrad::detail::Raised<Error>(                                                   \
          torch_check_text.empty() ? "expected " #condition " to be true" : torch_check_text); \
    }                                                                                          \
  } while (false)
