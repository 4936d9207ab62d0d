#include "processes.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>
#include <halfgrad/programs/interrupt.h>

extern char** environ;

namespace {

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts a shell that deletes `folder` once nobody holds the write end of the pipe any more. It is
/// in a process group of its own, so that Ctrl-C does not reach it.
pid_t delete_later(const std::string& folder, const std::array<int, 2>& pipe) {
  std::vector<std::string> words{
      "sh", "-c", "trap '' HUP INT TERM; cat >/dev/null; rm -rf -- \"$1\"", "sh", folder};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe[0], STDIN_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe[1]);
  // Who reads this program's output must not wait for the shell.
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t shell = -1;
  const int error =
      posix_spawn(&shell, "/bin/sh", &actions, &attributes, pointers_to(words).data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? shell : -1;
}

}  // namespace

TemporaryFolder::TemporaryFolder() {
  std::string name = std::filesystem::temp_directory_path() / "verify_resume_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw std::system_error(errno, std::generic_category(), "verify_resume: expected a folder");
  }
  path_ = name;
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) return;
  fcntl(pipe[0], F_SETFD, FD_CLOEXEC);
  shell_ = delete_later(name, pipe);
  ::close(pipe[0]);
  alive_ = pipe[1];
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (alive_ >= 0) ::close(alive_);
  if (shell_ > 0) waitpid(shell_, nullptr, 0);
}

void restart(const std::string& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  arguments.insert(arguments.end(), {"--parent", std::to_string(getpid())});
  pid_t child = 0;
  if (posix_spawnp(&child, program.c_str(), nullptr, nullptr, pointers_to(arguments).data(),
                   environ) != 0) {
    throw std::runtime_error(fmt::format("expected to start {} again", program));
  }
  int status = 0;
  bool is_told = false;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (programs::is_interrupted() && !is_told) {
      kill(child, SIGTERM);
      is_told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  if (status != 0 && !programs::is_interrupted()) {
    throw std::runtime_error(
        fmt::format("expected {} to train and stop, got status {}", program, status));
  }
}

void end_with_parent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::_Exit(1);  // it ended before the call
}
