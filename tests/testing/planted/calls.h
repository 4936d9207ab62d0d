#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/tests/testing/planted/call.h>

/// Kernels with several outputs.
namespace halfgrad::testing::planted {

using I = std::int64_t;

/// The arguments of a kernel with several outputs.
struct Calls {
  const std::vector<Array>& in;
  const std::vector<Array>& out;

  float x(int operand, I i) const { return element(in[static_cast<std::size_t>(operand)], i); }
  void y(int output, I i, float value) const {
    Call{in, out[static_cast<std::size_t>(output)]}.y(i, value);
  }
  float stored(float value) const { return Call{in, out[0]}.stored(value); }
  I size(int operand, int dim) const { return in[static_cast<std::size_t>(operand)].size(dim); }
};

/// One kernel; `mistake` is 0 for the right one.
struct BackwardKernel {
  const char* op;
  int mistake;
  const char* what;
  void (*run)(const Calls& c, int mistake);
  bool only_in_float32 = false;  ///< in 16 bits the mistake is below the rounding of the result

  Kernel kernel() const {
    return [f = run, m = mistake](const std::vector<Array>& in, const std::vector<Array>& out) {
      f(Calls{in, out}, m);
    };
  }
};

}  // namespace halfgrad::testing::planted
