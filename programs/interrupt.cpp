#include <halfgrad/programs/interrupt.h>

#include <algorithm>
#include <csignal>

namespace programs {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t received = 0;

extern "C" void remember(int number) {
  received = number;
  for (const int each : kSignals) std::signal(each, SIG_DFL);
}

std::string quoted_for_shell(const std::string& word) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace

void remember_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;  // does not interrupt the writing of a checkpoint
  for (const int each : kSignals) {
    struct sigaction previous {};
    sigaction(each, &action, &previous);
    // Keeps SIG_IGN: shells let background jobs ignore Ctrl-C.
    if (previous.sa_handler == SIG_IGN) sigaction(each, &previous, nullptr);
  }
}

bool is_interrupted() { return received != 0; }

int interrupted_status() { return received == 0 ? 0 : 128 + received; }

std::string command_again(const std::vector<std::string>& command,
                          const std::vector<std::string>& left_out,
                          const std::vector<std::string>& added) {
  std::string text;
  const auto append = [&](const std::string& word) {
    text += (text.empty() ? "" : " ") + quoted_for_shell(word);
  };
  for (std::size_t i = 0; i < command.size(); ++i) {
    const std::string name = command[i].substr(0, command[i].find('='));
    if (std::ranges::find(left_out, name) == left_out.end()) {
      append(command[i]);
    } else if (name == command[i]) {
      ++i;  // skips the value, which is the next word
    }
  }
  for (const std::string& word : added) append(word);
  return text;
}

}  // namespace programs
