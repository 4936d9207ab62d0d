#pragma once

#include <halfgrad/compat/names.h>

// NOLINTBEGIN(bugprone-macro-parentheses): a type and a name cannot be in parentheses
/// libtorch's macro for one option of a class of options: `TORCH_ARG(double, momentum) = 0;`
/// declares the function that sets it and returns the options, and the functions that read it.
#define TORCH_ARG(T, name)                           \
 public:                                             \
  auto name(const T& new_##name)->decltype(*this) {  \
    this->name##_ = new_##name;                      \
    return *this;                                    \
  }                                                  \
  auto name(T&& new_##name)->decltype(*this) {       \
    this->name##_ = static_cast<T&&>(new_##name);    \
    return *this;                                    \
  }                                                  \
  const T& name() const noexcept { return name##_; } \
  T& name() noexcept { return name##_; }             \
                                                     \
 private:                                            \
  T name##_
// NOLINTEND(bugprone-macro-parentheses)
