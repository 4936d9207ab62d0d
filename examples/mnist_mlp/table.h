#pragma once

#include <vector>

struct Options;
struct TrainingReport;
struct UnderflowReport;

/// A row for each precision: means over its seeds.
void print_digits_table(const std::vector<TrainingReport>& reports, const Options& options);
void print_underflow_table(const std::vector<UnderflowReport>& reports);
