#include <halfgrad/emulator/ptx/readable_name.h>

#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace halfgrad::emulator {

std::string readable_name(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), std::free);
  return text != nullptr ? text.get() : mangled;
}

}  // namespace halfgrad::emulator
