#include <halfgrad/core/type_name.h>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace halfgrad::detail {

std::string type_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return text != nullptr ? text.get() : type.name();
}

std::string class_name(const std::type_info& type) {
  const std::string full = type_name(type);
  const auto colons = full.rfind("::");
  return colons == std::string::npos ? full : full.substr(colons + 2);
}

}  // namespace halfgrad::detail
