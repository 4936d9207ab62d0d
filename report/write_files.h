#pragma once

#include <filesystem>

#include <halfgrad/report/run_record.h>

namespace halfgrad::report {

/// Throws files::WriteError unless the files of a report can be written beside `page`. Changes none
/// of them.
void check_writable(const std::filesystem::path& page);

/// Replaces the page run.html, and beside it run.data.json and the tables
/// run.runs.csv, run.steps.csv, run.exponents.csv, run.ops.csv and run.costs.csv, each atomically,
/// the page last. Writes only the page into a device or a pipe.
void write_files(const std::filesystem::path& page, const PageRecord& record);

}  // namespace halfgrad::report
