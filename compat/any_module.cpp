#include <halfgrad/compat/any_module.h>

#include <cxxabi.h>

#include <cstdlib>

namespace halfgrad::nn::detail {

std::string readable(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return text != nullptr ? text.get() : type.name();
}

void refuse_argument_count(const Module& module, std::size_t expected, std::size_t found) {
  halfgrad::detail::fail("AnyModule", "expected {} arguments for forward() of {}, got {}", expected,
                         module.name(), found);
}

void refuse_argument(std::size_t i, const std::type_info& expected, const std::type_info& found) {
  halfgrad::detail::fail("AnyModule", "expected argument {} of type {}, got {}", i,
                         readable(expected), readable(found));
}

}  // namespace halfgrad::nn::detail
