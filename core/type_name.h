#pragma once

#include <string>
#include <typeinfo>

namespace halfgrad::detail {

/// Returns the name of a type as C++ spells it, such as "halfgrad::nn::Linear".
std::string type_name(const std::type_info& type);

/// Returns the type's name without its namespaces, such as "Linear".
std::string class_name(const std::type_info& type);

}  // namespace halfgrad::detail
