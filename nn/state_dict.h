#pragma once

#include <string>
#include <vector>

#include <halfgrad/autograd/tensor.h>
#include <halfgrad/nn/ordered_dict.h>

namespace halfgrad::nn {

/// Detached tensors by dotted name, such as "0.weight".
using StateDict = OrderedDict<std::string, Tensor>;

struct LoadStateDictOptions {
  bool strict = true;  ///< treats missing and unexpected names as errors
};

/// The names that load_state_dict() did not find in the dictionary, and those in the dictionary
/// that the module does not have.
struct IncompatibleKeys {
  std::vector<std::string> missing_keys;
  std::vector<std::string> unexpected_keys;
};

}  // namespace halfgrad::nn
