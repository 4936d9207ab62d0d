#pragma once

#include <cstdint>
#include <string>

#include <halfgrad/testing/kernel_check.h>

/// The places of wrong elements as a part of reports.
namespace halfgrad::testing {

/// The lines of a text report: where the wrong elements lie, and a map of them.
std::string places_text(const KernelFinding& finding);

/// The member "places" of a finding in JSON, or an empty string if no element is known as wrong.
std::string places_json(const KernelFinding& finding);

/// The index of an element as a list in JSON: "[3, 2]".
std::string index_list(std::int64_t index, const Shape& shape);

/// Values of a small case: all of up to 16 elements, else those that are not 0, with their indices.
std::string values_text(const Values& values);

}  // namespace halfgrad::testing
