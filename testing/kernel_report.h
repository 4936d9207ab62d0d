#pragma once

#include <string>
#include <vector>

#include <halfgrad/testing/kernel_check.h>

/// A report as text, JSON and JUnit.
namespace halfgrad::testing {

/// Lines for a terminal.
std::string to_text(const KernelReport& report);

/// The version of the JSON report. It grows when a member changes its meaning or goes; members that
/// are added leave it.
inline constexpr int kReportSchemaVersion = 1;

/// One JSON object, described in docs/kernel_check.md. Infinities and NaN are the strings "inf",
/// "-inf" and "nan".
std::string to_json(const KernelReport& report);

/// A JUnit document, one test case for a report.
std::string to_junit(const std::vector<KernelReport>& reports);

}  // namespace halfgrad::testing
