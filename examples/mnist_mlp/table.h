#pragma once

#include <vector>

struct Options;
struct TrainingReport;
struct UnderflowReport;

/// Print a row for each precision, with means over its seeds.
void print_digits_table(const std::vector<TrainingReport>& reports, const Options& options);
void print_underflow_table(const std::vector<UnderflowReport>& reports);
