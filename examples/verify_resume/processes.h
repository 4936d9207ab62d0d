#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

/// A new folder for the files of this process and of those that it starts. Deleted at the end, also
/// after a crash: a shell waits until all of these processes have ended, and then deletes it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int alive_ = -1;  // write end of a pipe, inherited by child processes
  pid_t shell_ = -1;
};

/// Runs this program again, in a process of its own, which ends with this one. Passes an interrupt
/// on. Throws unless it succeeds or is interrupted.
void restart(const std::string& program, std::vector<std::string> arguments);

/// Ends this process when its parent ends, whose id is `parent`, even if that is killed.
void end_with_parent(pid_t parent);
