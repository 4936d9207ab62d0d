#pragma once

#include <halfgrad/emulator/checks/finding.h>

namespace halfgrad::emulator {

/// Prints a finding to stderr, each line with the emulator's prefix.
void print_finding(const Finding& finding);

}  // namespace halfgrad::emulator
