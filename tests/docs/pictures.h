#pragma once

#include <map>
#include <string>

namespace halfgrad::tests {

/// Every picture of docs/mixed-precision.md, drawn from computed figures: path to SVG text.
std::map<std::string, std::string> pictures();

}  // namespace halfgrad::tests
