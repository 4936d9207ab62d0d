#include <halfgrad/emulator/command/child_process.h>

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace halfgrad::emulator {
namespace {

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

void discard_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

/// Waits for the child, at most `seconds`. Returns its status as waitpid does.
int wait_for(pid_t child, double seconds = std::numeric_limits<double>::infinity()) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const bool limited = std::isfinite(seconds);
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(child, &status, limited ? WNOHANG : 0);
    if (ended == child) return status;
    if (ended < 0 && errno != EINTR) {
      throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
    }
    if (!limited) continue;
    if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds) {
      ::kill(child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
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
                const std::vector<std::pair<std::string, std::string>>& environment,
                const RunLimits& limits) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    if (limits.silent) discard_output();
    become(program, environment);
  }
  // An interrupt from the keyboard reaches both; the report is written after the program's end.
  if (limits.seconds == 0) std::signal(SIGINT, SIG_IGN);
  const int status = limits.seconds == 0 ? wait_for(child) : wait_for(child, limits.seconds);
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
