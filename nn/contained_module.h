#pragma once

#include <type_traits>

namespace halfgrad::nn::detail {

/// The module type of a holder, such as nn::ModuleHolder<NetImpl>; T itself for other types.
template <class T>
struct ContainedType {
  using type = T;
};
template <class T>
requires(!std::is_void_v<typename T::ContainedType>) struct ContainedType<T> {
  using type = typename T::ContainedType;
};
template <class T>
using Contained = typename ContainedType<T>::type;

}  // namespace halfgrad::nn::detail
