#include <dlfcn.h>
#include <execinfo.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include <halfgrad/emulator/ptx/readable_name.h>
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
  // Never destroyed: the last findings are reported when other static objects are gone.
  static const auto& own =
      *new std::string(folder_of(reinterpret_cast<const void*>(&address_text)));
  static const auto& of_c = *new std::string(folder_of(reinterpret_cast<const void*>(&std::puts)));
  const std::string path = frame.dli_fname;
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  return !folder.empty() && (folder == own || folder == of_c);
}

}  // namespace

std::string address_text(std::uint64_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

namespace {

std::string frame_text(const void* address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fbase == nullptr) {
    return address_text(reinterpret_cast<std::uint64_t>(address));
  }
  // The call ends one byte before the return address: addr2line then names the line of the call.
  const auto offset = reinterpret_cast<std::uint64_t>(address) - 1 -
                      reinterpret_cast<std::uint64_t>(info.dli_fbase);
  std::string text = file_of_path(info.dli_fname) + "+" + address_text(offset);
  if (info.dli_sname != nullptr) {
    text += " (" + readable_name(info.dli_sname) + ")";
  }
  return text;
}

/// The program's frames on the stack from the one that returns to `first` on, or all.
std::string frames_from(const void* first) {
  constexpr int kMostFrames = 64, kMostSites = 4;
  std::array<void*, kMostFrames> frames{};
  const int count = backtrace(frames.data(), kMostFrames);
  const auto* const end = frames.data() + count;
  const auto* frame = std::find(frames.data(), frames.data() + count, first);
  if (frame == end) frame = frames.data();
  std::string sites;
  for (int found = 0; frame != end && found < kMostSites; ++frame) {
    Dl_info info{};
    if (dladdr(*frame, &info) == 0 || info.dli_fname == nullptr || is_of_system(info)) continue;
    if (info.dli_sname != nullptr && std::string(info.dli_sname) == "_start") continue;
    sites += (found++ == 0 ? "" : ", ") + frame_text(*frame);
  }
  return sites;
}

}  // namespace

std::string call_site(const void* address) {
  const std::string sites = frames_from(address);
  return sites.empty() ? frame_text(address) : sites;
}

std::string call_sites() { return frames_from(nullptr); }

}  // namespace halfgrad::emulator
