#pragma once

#include <string>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

/// A report as text, JSON and JUnit.
namespace halfgrad::testing {

/// A page for a terminal.
std::string to_text(const KernelReport& report);

/// One JSON object. Infinities and NaN are the strings "inf", "-inf" and "nan".
std::string to_json(const KernelReport& report);

/// A JUnit document, one test case for a report.
std::string to_junit(const std::vector<KernelReport>& reports);

}  // namespace halfgrad::testing
