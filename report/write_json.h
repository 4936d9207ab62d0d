#pragma once

#include <string>

#include <halfgrad/report/run_record.h>

namespace halfgrad::report {

/// Version of the JSON's schema, in docs/report.md.
inline constexpr int kSchemaVersion = 1;

/// The report as JSON.
std::string json_of(const PageRecord& page);

}  // namespace halfgrad::report
