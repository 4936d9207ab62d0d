#include <halfgrad/emulator/command/child_process.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <sys/wait.h>
#include <unistd.h>

namespace halfgrad::emulator {
namespace {

constexpr int kNotStarted = 127;

[[noreturn]] void become(const std::vector<std::string>& program,
                         const std::vector<std::pair<std::string, std::string>>& environment) {
  for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> arguments;
  for (const std::string& argument : program)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "halfgrad-emulate: cannot run %s: %s\n", arguments[0], std::strerror(errno));
  std::_Exit(kNotStarted);
}

bool has_runtime(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().rfind("libcudart.so.", 0) == 0) return true;
  }
  return false;
}

}  // namespace

int run_program(const std::vector<std::string>& program,
                const std::vector<std::pair<std::string, std::string>>& environment) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) become(program, environment);
  // An interrupt from the keyboard reaches both; the report is written after the program's end.
  std::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
  }
  std::signal(SIGINT, SIG_DFL);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string library_folder() {
  std::filesystem::path folder;
  if (const char* chosen = std::getenv("HALFGRAD_EMULATOR_LIBRARIES")) {
    folder = chosen;
  } else {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    folder = self.parent_path().parent_path() / "lib" / "halfgrad-emulator";
  }
  if (!has_runtime(folder)) {
    throw std::runtime_error("expected libcudart.so in " + folder.string() +
                             "; set HALFGRAD_EMULATOR_LIBRARIES to the stand-ins' folder");
  }
  return std::filesystem::absolute(folder).string();
}

}  // namespace halfgrad::emulator
