#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>

#include <halfgrad/core/random.h>

namespace halfgrad::nn {

class Module;

namespace detail {

/// How a module drew the random values of its own parameters in its constructor.
struct Initialisation {
  RandomKey first = default_generator().get_state();
  std::uint64_t keys = 0;                ///< how many keys the draw took, from `first` on
  std::function<void()> draw = nullptr;  ///< draws the values again, from default_generator()
};

/// Gives temporary layers the parameters that they would have if they had been constructed from
/// left to right. C++ leaves the order of evaluation of arguments to the compiler: in
/// Sequential(Linear(4, 3), Linear(3, 2)) g++ constructs the last layer first, clang the first one.
///
/// Repeats the draws in the order of the layers, with the same keys. Warns, and changes nothing, if
/// other random numbers were drawn in between or a parameter was converted or loaded since. Ignores
/// null pointers, layers with other handles, and layers without parameters.
void initialise_in_order(std::initializer_list<const Module*> layers);

}  // namespace detail
}  // namespace halfgrad::nn
