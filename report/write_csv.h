#pragma once

#include <string>

#include <halfgrad/report/run_record.h>

/// The tables of a report as CSV, one line for each row; the first column is the run's name.
namespace halfgrad::report {

std::string steps_csv(const PageRecord& page);
std::string exponents_csv(const PageRecord& page);
std::string ops_csv(const PageRecord& page);

}  // namespace halfgrad::report
