#pragma once

#include <concepts>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include <halfgrad/core/device.h>
#include <halfgrad/core/dtype.h>
#include <halfgrad/core/error.h>
#include <halfgrad/core/shape.h>

/// Errors with messages of one form, "op: expected ..., got ...".
namespace halfgrad::detail {

/// The text of a value in a message.
inline std::string message_part(std::string_view text) { return std::string(text); }
inline std::string message_part(const Shape& shape) { return to_string(shape); }
inline std::string message_part(Device device) { return device.str(); }
inline std::string message_part(DType dtype) { return std::string(name(dtype)); }
std::string message_part(double value);  ///< the shortest text that reads back as `value`
template <std::integral T>
std::string message_part(T value) {
  if constexpr (std::same_as<T, bool>) return value ? "true" : "false";
  return std::to_string(value);
}

/// The text of a message with one `{}` for each of `Values`; another count does not compile.
template <class... Values>
class MessageFormat {
 public:
  consteval MessageFormat(const char* text) : text_(text) {
    std::size_t holes = 0;
    for (const char* c = text; *c != 0; ++c) {
      if (c[0] == '{' && c[1] == '}') ++holes;
    }
    if (holes != sizeof...(Values)) throw "expected one {} for each value";
  }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// Returns `op: format`, with each `{}` replaced by the next of `parts`.
std::string message(std::string_view op, std::string_view format,
                    std::initializer_list<std::string> parts);

/// Throws Standard, which is also an Error, with the text `op: format`, with each `{}` replaced by
/// the next value:
///     fail("bmm", "expected [b, m, k] and [b, k, n], got {} and {}", a.sizes(), b.sizes());
/// The default, std::invalid_argument, is for mistakes of the caller. Use std::runtime_error for
/// failures of the machine and std::logic_error for bugs of ours.
template <class Standard = std::invalid_argument, class... Values>
[[noreturn]] void fail(std::string_view op, std::type_identity_t<MessageFormat<Values...>> format,
                       const Values&... values) {
  using Thrown = std::conditional_t<std::derived_from<Standard, Error>, Standard, Raised<Standard>>;
  throw Thrown(message(op, format.text(), {message_part(values)...}));
}

}  // namespace halfgrad::detail
