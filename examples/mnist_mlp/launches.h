#pragma once

#include <filesystem>
#include <vector>

#include <halfgrad/report/run_record.h>

/// Reads the launches of a run from the file that halfgrad-emulate --json wrote: kernels, library
/// calls, copies and memsets. Throws std::invalid_argument for other files.
std::vector<halfgrad::report::Launches> read_launches(const std::filesystem::path& file);
