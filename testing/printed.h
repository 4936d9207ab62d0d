#pragma once

#include <cmath>

namespace halfgrad::testing {

/// The value as a message shows it: NaN without its sign, which differs from machine to machine.
inline double printed(double x) { return std::isnan(x) ? std::fabs(x) : x; }

}  // namespace halfgrad::testing
