#pragma once

#include <string>

#include <halfgrad/report/run_record.h>

namespace halfgrad::report {

/// The report as one HTML page, which needs no other file: its style, its script and its data are
/// inside.
std::string page_of(const PageRecord& record);

}  // namespace halfgrad::report
