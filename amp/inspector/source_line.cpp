#include <halfgrad/amp/inspector/source_line.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

#if defined(__linux__) && __has_include(<execinfo.h>)
#define HALFGRAD_HAS_CALL_STACK
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace halfgrad::detail {

// In "_ZNK8halfgrad..." the letters after _Z say that the name is nested, const, and so on; in
// "_ZZ4mainENK..." that it is local to a function. Names of std begin with St, Sa, Ss, ...
// C functions that begin with two underscores belong to the C library or to a sanitizer.
bool is_library_function(const std::string& mangled, const std::string& file) {
  if (!mangled.starts_with("_Z")) {
    return mangled.starts_with("__") || file.find("/include/halfgrad/") != std::string::npos ||
           file.find("/include/c++/") != std::string::npos;
  }
  const std::size_t start = mangled.find_first_not_of("ZNKVrRO", 2);
  if (start == std::string::npos) return false;
  const std::string name = mangled.substr(start);
  const bool is_std = name.size() > 1 && name[0] == 'S' &&
                      std::string("tabsiod").find(name[1]) != std::string::npos;
  return is_std || name.starts_with("8halfgrad") || name.starts_with("9__gnu_cxx");
}

#if defined(HALFGRAD_HAS_CALL_STACK)
namespace {

// A function that was running, and its line: several of them share an address if they were inlined.
struct Frame {
  std::string function;  // as the linker knows it; "??" if unknown
  std::string line;      // "train.cpp:41"; "??:0" if unknown
};

std::string demangled(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : mangled;
}

// The output of a program that is looked for in PATH, without its messages. Empty if it cannot run.
std::string output_of(const std::vector<std::string>& command) {
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return "";
  std::vector<char*> arguments, environment;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  for (char** entry = environ; *entry != nullptr; ++entry) {
    // With it, addr2line may ask a server for debug information.
    if (!std::string(*entry).starts_with("DEBUGINFOD_URLS=")) environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  std::string output;
  char block[4096];
  for (ssize_t n; error == 0 && (n = ::read(pipe[0], block, sizeof block)) > 0;) {
    output.append(block, static_cast<std::size_t>(n));
  }
  ::close(pipe[0]);
  if (error == 0) ::waitpid(child, nullptr, 0);
  return output;
}

// The file, program or library, that holds an address, and the address in it.
struct Location {
  std::string file;
  std::uintptr_t address;
};

std::optional<Location> locate(void* return_address) {
  if (return_address == nullptr) return {};
  // The call is before the instruction to which it returns, which may belong to the next line.
  void* const call = static_cast<char*>(return_address) - 1;
  Dl_info info;
  link_map* map = nullptr;
  if (::dladdr1(call, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return {};
  const bool is_program = map->l_name == nullptr || *map->l_name == 0;
  return Location{is_program ? "/proc/" + std::to_string(::getpid()) + "/exe" : map->l_name,
                  reinterpret_cast<std::uintptr_t>(call) - map->l_addr};
}

std::string in_hex(std::uintptr_t address) {
  std::ostringstream text;
  text << "0x" << std::hex << address;
  return text.str();
}

// The functions and lines of addresses that lie in one file, from the inside out. addr2line prints
// each address, then two lines for each function there.
std::vector<Frame> frames_in(const std::string& file,
                             const std::vector<std::uintptr_t>& addresses) {
  std::vector<std::string> command{"addr2line", "-afie", file};
  for (const std::uintptr_t address : addresses) command.push_back(in_hex(address));
  std::istringstream lines(output_of(command));
  std::vector<Frame> frames;
  for (std::string function, line; std::getline(lines, function);) {
    if (function.starts_with("0x")) continue;
    if (!std::getline(lines, line)) break;
    frames.push_back({function, line.substr(0, line.find(" (discriminator"))});
  }
  return frames;
}

std::vector<Frame> frames_without_tool(const std::vector<void*>& stack) {
  std::vector<Frame> frames;
  for (void* const address : stack) {
    if (address == nullptr) continue;
    Dl_info info;
    const bool found = ::dladdr(static_cast<char*>(address) - 1, &info) != 0;
    if (found && info.dli_sname != nullptr) frames.push_back({info.dli_sname, "??:0"});
  }
  return frames;
}

std::vector<Frame> frames_of(const std::vector<void*>& stack) {
  std::vector<Frame> frames;
  std::vector<std::uintptr_t> addresses;
  std::string file;
  const auto resolve = [&] {
    if (addresses.empty()) return;
    const std::vector<Frame> found = frames_in(file, addresses);
    frames.insert(frames.end(), found.begin(), found.end());
    addresses.clear();
  };
  for (void* const address : stack) {
    const std::optional<Location> location = locate(address);
    if (!location) continue;
    if (location->file != file) resolve();
    file = location->file;
    addresses.push_back(location->address);
  }
  resolve();
  const bool any = std::any_of(frames.begin(), frames.end(),
                               [](const Frame& frame) { return frame.function != "??"; });
  return any ? frames : frames_without_tool(stack);
}

// The path from the working directory, if the file is in it.
std::string short_path(const std::string& line) {
  std::error_code error;
  const std::string folder = std::filesystem::current_path(error).string() + "/";
  const std::string path = std::filesystem::path(line).lexically_normal().string();
  return path.starts_with(folder) ? path.substr(folder.size()) : path;
}

}  // namespace

std::vector<void*> call_stack() {
  constexpr int kDeepest = 1024;
  std::vector<void*> stack(kDeepest);
  stack.resize(static_cast<std::size_t>(::backtrace(stack.data(), kDeepest)));
  return stack;
}

std::string source_line(std::vector<void*> stack, std::size_t outer) {
  stack.resize(stack.size() - std::min(outer, stack.size()));
  for (const Frame& frame : frames_of(stack)) {
    if (frame.function == "??" || is_library_function(frame.function, frame.line)) continue;
    const bool is_known =
        !frame.line.starts_with("??") && !frame.line.ends_with(":?") && !frame.line.ends_with(":0");
    return (is_known ? short_path(frame.line) + " " : "") + "in " + demangled(frame.function);
  }
  return "";
}

#else

std::vector<void*> call_stack() { return {}; }
std::string source_line(std::vector<void*> /*stack*/, std::size_t /*outer*/) { return ""; }

#endif

}  // namespace halfgrad::detail
