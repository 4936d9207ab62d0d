#pragma once

#include <string>

namespace halfgrad {

/// Base of the exceptions that halfgrad throws, beside a standard class such as
/// std::invalid_argument:
///     catch (const hg::Error& e) { std::cerr << e.what(); }
/// catches what halfgrad refuses, and not what the program itself throws. Exceptions of the
/// standard library, such as std::bad_alloc, are not Errors.
class Error {
 public:
  Error() = default;
  Error(const Error&) = default;
  Error& operator=(const Error&) = default;
  virtual ~Error() = default;

  virtual const char* what() const noexcept = 0;
  /// libtorch's names for what(), which never has a backtrace here.
  const char* what_without_backtrace() const noexcept { return what(); }
  std::string msg() const { return what(); }
};

namespace detail {

/// A standard exception that is also an Error.
template <class Standard>
class Raised : public Standard, public Error {
 public:
  using Standard::Standard;
  const char* what() const noexcept override { return Standard::what(); }
};

}  // namespace detail
}  // namespace halfgrad
