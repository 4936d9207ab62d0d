#include <halfgrad/programs/interrupt.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace programs {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
constexpr std::int64_t kTogether = 100;  // milliseconds
std::atomic<int> received = 0;
std::atomic<std::int64_t> received_at = 0;  // milliseconds
static_assert(std::atomic<std::int64_t>::is_always_lock_free, "a signal handler must not lock");

extern "C" void remember(int number) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t at = std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
  if (received == 0) {
    received_at = at;
    received = number;
  } else if (at - received_at > kTogether) {
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
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
