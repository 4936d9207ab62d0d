#pragma once

#include <vector>

#include <halfgrad/testing/kernel_check.h>

namespace halfgrad::testing {

/// Inputs of successive calls in the same memory, of the sizes of a case and from its seed on. Some
/// differ from those before in every element, some in one element of one operand, some only in the
/// order of the elements, some by a small part of each: a kernel that keeps results, and compares a
/// sample or a checksum of its inputs, or within a tolerance, repeats an earlier result.
std::vector<std::vector<Values>> successive_inputs(const KernelOp& op, KernelCase first);

}  // namespace halfgrad::testing
