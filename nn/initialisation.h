#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include <halfgrad/core/random.h>

namespace halfgrad::nn {

class Module;

namespace detail {

/// The random numbers that a module drew for its own parameters when it was made.
struct Initialisation {
  RandomKey first = default_generator().get_state();
  std::uint64_t keys = 0;
  std::function<void()> draw = nullptr;  ///< draws them again, from default_generator()
};

/// Gives temporary layers the parameters that they would have if they had been made from left to
/// right. C++ leaves the order in which the arguments of a call are evaluated to the compiler: g++
/// makes the last layer of Sequential(Linear(4, 3), Linear(3, 2)) first, clang the first one.
///
/// Repeats the draws in the order of the layers, with the same keys. Warns, and changes nothing,
/// where the keys or the parameters show more than these draws: other random numbers, converted or
/// loaded parameters. Null, shared layers and layers without parameters are passed over.
void initialise_in_order(std::initializer_list<const Module*> layers);

}  // namespace detail
}  // namespace halfgrad::nn
