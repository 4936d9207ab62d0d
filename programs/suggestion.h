#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace programs {

/// Returns "; did you mean softmax?" with the name nearest to `given`. Returns "" if no name is
/// near enough: at most one edit, or one for every three characters.
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

}  // namespace programs
