#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <halfgrad/core/error.h>

namespace halfgrad::detail {

/// Returns f(). An error of the op `inner`, which f() calls, gets the name `op`, which the program
/// called: "view: expected ..." in place of "reshape: expected ...".
template <class F>
auto with_op_name(std::string_view op, std::string_view inner, const F& f) {
  const auto renamed = [&](const std::exception& error) {
    return std::string(op).append(std::string_view(error.what()).substr(inner.size()));
  };
  const auto names_inner = [&](const std::exception& error) {
    const std::string_view text = error.what();
    return text.starts_with(inner) && text.substr(inner.size()).starts_with(": ");
  };
  try {
    return f();
  } catch (const std::invalid_argument& error) {
    if (!names_inner(error)) throw;
    throw Raised<std::invalid_argument>(renamed(error));
  } catch (const std::out_of_range& error) {
    if (!names_inner(error)) throw;
    throw Raised<std::out_of_range>(renamed(error));
  }
}

}  // namespace halfgrad::detail
