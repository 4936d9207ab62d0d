#pragma once

#include <string>

namespace halfgrad::emulator {

/// Returns "void scale<float>(float*)" for "_Z5scaleIfEvPT_", and a name that is not mangled as it
/// is.
std::string readable_name(const std::string& mangled);

}  // namespace halfgrad::emulator
