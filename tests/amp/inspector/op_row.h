#pragma once

#include <stdexcept>
#include <string>

#include <halfgrad/amp/inspector/op_timer.h>

namespace halfgrad::amp {

/// Returns the row of an op in a timer's table. Throws std::out_of_range if there is none.
inline OpTime row_of(OpTimer& timer, const std::string& op, bool is_derivative = false) {
  for (const OpTime& row : timer.times()) {
    if (row.op == op && row.is_derivative == is_derivative) return row;
  }
  throw std::out_of_range("expected a row of " + op);
}

}  // namespace halfgrad::amp
