#pragma once

#include <cstdint>

#include <halfgrad/python/bindings/bindings.h>

/// unique(dim=...) and unique_consecutive(dim=...) of Python.
namespace halfgrad::python {

struct UniqueSlices {
  Tensor slices;   ///< the input without slices that equal another one
  Tensor inverse;  ///< int64: which of `slices` each slice of the input is
  Tensor counts;   ///< int64: how often each occurs
};

/// The distinct slices along `dim`, in lexicographic order. With `consecutive` only a slice that
/// equals the one before is left out. Slices with NaN differ. The host waits for a GPU.
/// Throws std::invalid_argument for empty slices.
UniqueSlices unique_slices(const char* op, const Tensor& input, std::int64_t dim, bool consecutive);

}  // namespace halfgrad::python
