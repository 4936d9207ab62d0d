#include "emulated.h"

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/files/read_file.h>
#include <halfgrad/files/replace_file.h>

#include "emulator_report.h"

namespace halfgrad::check {
namespace {

namespace fs = std::filesystem;

constexpr int kNotChecked = 2;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "halfgrad-check-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) {
      throw std::runtime_error("cannot make a folder " + name + ": " + std::strerror(errno));
    }
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// halfgrad-emulate lies beside this program, in the build's bin/ and in an installed one.
std::string emulate_program(const fs::path& self) {
  const fs::path program = self.parent_path() / "halfgrad-emulate";
  if (fs::exists(program)) return program.string();
  throw std::runtime_error("--emulate: expected " + program.string() +
                           ", got no such file; build it with cmake -DHALFGRAD_EMULATOR=ON");
}

/// Runs a program and waits for it. Returns its exit code, or 128 + the signal that ended it.
int run(std::vector<std::string> command) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execv(arguments[0], arguments.data());
    std::_Exit(127);
  }
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) {
    throw std::runtime_error("cannot run " + command[0] + ": " + std::strerror(errno));
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string read(const std::string& path) {
  const std::vector<std::byte> bytes = files::read_file(path, "--emulate");
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void write(const std::string& path, const std::string& text) {
  files::replace_file(path, std::as_bytes(std::span(text)));
}

}  // namespace

Documents check_emulated(int argc, char** argv) {
  const fs::path self = fs::read_symlink("/proc/self/exe");
  const TemporaryFolder folder;
  const std::string json = folder.file("emulator.json"), junit = folder.file("emulator.xml");
  // Later cases run although a kernel of an earlier one was aborted.
  std::vector<std::string> command = {
      emulate_program(self), "--continue", "--quiet", "--json", json, "--junit", junit, self};
  command.insert(command.end(), argv + 1, argv + argc);
  command.insert(command.end(), {"--reports", folder.file("")});
  const int code = run(command);
  if (!fs::exists(folder.file("check.txt"))) {
    if (code == kNotChecked) return {{}, {}, {}, kNotChecked};  // the process has said why
    throw std::runtime_error("the check did not end under the emulator: exit code " +
                             std::to_string(code));
  }
  Documents documents{read(folder.file("check.txt")), read(folder.file("check.json")),
                      read(folder.file("check.xml")), 0};
  add_emulator_report(documents, fs::exists(json) ? read(json) : "",
                      fs::exists(junit) ? read(junit) : "");
  return documents;
}

void write_documents(const std::string& folder, const Documents& documents) {
  write(folder + "/check.json", documents.json);
  write(folder + "/check.xml", documents.junit);
  write(folder + "/check.txt", documents.text);
}

}  // namespace halfgrad::check
