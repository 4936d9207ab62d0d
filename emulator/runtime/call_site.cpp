#include <dlfcn.h>
#include <execinfo.h>

#include <array>
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

/// Whether the frame belongs to the stand-ins or to libraries of the system: they share a folder
/// with this library or with the C library.
bool is_of_system(const Dl_info& frame) {
  static const auto folder_of = [](const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return std::string();
    const std::string path = info.dli_fname;
    return path.substr(0, path.rfind('/') + 1);
  };
  static const std::string own = folder_of(reinterpret_cast<const void*>(&address_text));
  static const std::string of_c = folder_of(reinterpret_cast<const void*>(&std::puts));
  const std::string path = frame.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  return !folder.empty() && (folder == own || folder == of_c);
}

}  // namespace

std::string call_sites() {
  constexpr int kMostFrames = 64, kMostSites = 4;
  std::array<void*, kMostFrames> frames{};
  const int count = backtrace(frames.data(), kMostFrames);
  std::string sites;
  int found = 0;
  for (int i = 0; i < count && found < kMostSites; ++i) {
    Dl_info info{};
    const bool known = dladdr(frames[static_cast<std::size_t>(i)], &info) != 0;
    if (!known || info.dli_fname == nullptr || is_of_system(info)) continue;
    if (info.dli_sname != nullptr && std::string(info.dli_sname) == "_start") continue;
    sites += (found++ == 0 ? "" : ", ") + call_site(frames[static_cast<std::size_t>(i)]);
  }
  return sites;
}

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
