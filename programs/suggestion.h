#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace programs {

/// "; did you mean softmax?" if that is the name nearest to what was given, and near enough to be a
/// slip of the fingers: one edit, or one for each three characters. Else "".
std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

}  // namespace programs
