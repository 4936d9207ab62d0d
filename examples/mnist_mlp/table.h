#pragma once

#include <vector>

struct TrainingReport;
struct UnderflowReport;

/// A row for each precision: means over its seeds.
void print_digits_table(const std::vector<TrainingReport>& reports);
void print_underflow_table(const std::vector<UnderflowReport>& reports);
