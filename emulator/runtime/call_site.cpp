#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include <cxxabi.h>

#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {
namespace {

std::string file_of_path(const char* path) {
  const std::string text = path == nullptr ? "" : path;
  return text.substr(text.rfind('/') + 1);
}

}  // namespace

std::string address_text(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string call_site(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fbase == nullptr) {
    return address_text(reinterpret_cast<std::uint64_t>(address));
  }
  // The call ends one byte before the return address: addr2line then names the line of the call.
  const auto offset = reinterpret_cast<std::uint64_t>(address) - 1 -
                      reinterpret_cast<std::uint64_t>(info.dli_fbase);
  std::string text = file_of_path(info.dli_fname) + "+" + address_text(offset);
  if (info.dli_sname != nullptr) {
    int status = 0;
    char* readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
    text += " (" + std::string(status == 0 ? readable : info.dli_sname) + ")";
    std::free(readable);
  }
  return text;
}

}  // namespace halfgrad::emulator
