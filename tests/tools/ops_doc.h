#pragma once

#include <array>
#include <sstream>
#include <string>
#include <string_view>

#include <halfgrad/autograd/op_table.h>

/// The format of docs/ops.md, which write_ops_doc.cpp writes and ops_doc_test.cpp checks.
namespace halfgrad::ops_doc {

inline constexpr std::array kMeasuredDTypes = {kFloat64, kFloat32, kFloat16, kBFloat16};

inline std::string_view name(Precision precision) {
  constexpr std::string_view names[] = {
      "any", "tensor_core", "wide_range", "wide_accumulate", "widest_operand", "unsafe"};
  return names[static_cast<int>(precision)];
}

/// The columns that do not depend on the machine.
inline std::string row_start(const OpEntry& op) {
  std::ostringstream row;
  row << "| `" << op.name << "` | " << name(op.precision) << " | "
      << (op.differentiable ? "yes" : "no") << " | " << op.roundoffs << " |";
  return row.str();
}

}  // namespace halfgrad::ops_doc
