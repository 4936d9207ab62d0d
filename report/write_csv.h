#pragma once

#include <string>

#include <halfgrad/report/run_record.h>

/// The tables of a report as CSV, one line for each row. The first column is the index of the run,
/// whose name is in runs_csv().
namespace halfgrad::report {

std::string runs_csv(const PageRecord& page);
std::string steps_csv(const PageRecord& page);
std::string exponents_csv(const PageRecord& page);
std::string ops_csv(const PageRecord& page);
std::string costs_csv(const PageRecord& page);

}  // namespace halfgrad::report
