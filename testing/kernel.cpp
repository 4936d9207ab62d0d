#include <halfgrad/testing/kernel.h>

#include <halfgrad/core/fail.h>

namespace halfgrad::testing {

void Kernel::operator()(const Inputs& inputs, const std::vector<Array>& outputs) const {
  if (outputs_) return outputs_(inputs, outputs);
  if (outputs.size() == 1) return one_(inputs, outputs[0]);
  halfgrad::detail::fail("Kernel", "expected a function of {} outputs, got one of a single output",
                         outputs.size());
}

}  // namespace halfgrad::testing
