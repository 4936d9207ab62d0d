#include <halfgrad/testing/kernel_process.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <sstream>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/testing/kernel_call.h>
#include <halfgrad/testing/kernel_server.h>
#include <halfgrad/testing/processor_wait.h>
#include <halfgrad/testing/second_thread.h>
#include <halfgrad/testing/shared_memory.h>
#include <halfgrad/testing/stray_access.h>

namespace halfgrad::testing {
namespace {

using detail::CallArray;
using detail::KernelCall;

KernelCall& shared_call() {
  return *reinterpret_cast<KernelCall*>(SharedMemory::instance().base());
}

CallArray described(const Array& array) {
  const SharedMemory& memory = SharedMemory::instance();
  const auto data = memory.offset_of(array.data());
  const auto storage = memory.offset_of(array.storage()->block().data);
  if (!data || !storage) {
    throw std::logic_error("kernel_in_process: expected arrays in shared memory");
  }
  const auto item = static_cast<std::int64_t>(item_size(array.dtype()));
  CallArray made;
  made.data = *data;
  made.storage = *storage;
  made.storage_bytes = array.storage()->block().bytes;
  made.dtype = static_cast<std::int32_t>(array.dtype());
  made.ndim = static_cast<std::int32_t>(array.ndim());
  std::int64_t last = 0;
  for (int i = 0; i < array.ndim(); ++i) {
    made.sizes[static_cast<std::size_t>(i)] = array.sizes()[i];
    made.strides[static_cast<std::size_t>(i)] = array.strides()[i];
    last += (array.sizes()[i] - 1) * array.strides()[i];
  }
  made.bytes = array.numel() == 0 ? 0 : static_cast<std::uint64_t>((last + 1) * item);
  return made;
}

/// The text that a kernel's process left, which may have overwritten its end.
std::string text_of(const KernelCall& answered) {
  return {answered.text.data(), ::strnlen(answered.text.data(), answered.text.size())};
}

class KernelProcess {
 public:
  KernelProcess(StartKernel start, double timeout, Fork fork)
      : start_(std::move(start)), timeout_(timeout), fork_(std::move(fork)) {
    static_assert(sizeof(KernelCall) <= SharedMemory::kMessageBytes);
  }
  ~KernelProcess() { end(); }
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  void run(const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    if (inputs.size() + outputs.size() > detail::kMostArrays) {
      throw std::logic_error("kernel_in_process: expected at most 16 inputs and outputs");
    }
    if (child_ < 0) begin();
    KernelCall made;  // the process can change its copy
    for (const Array& input : inputs) made.arrays[made.count++] = described(input);
    for (const Array& output : outputs) made.arrays[made.count++] = described(output);
    made.outputs = static_cast<std::uint32_t>(outputs.size());
    KernelCall& shared = shared_call();
    shared.count = made.count;
    shared.outputs = made.outputs;
    shared.arrays = made.arrays;
    const char message = detail::kRun;
    const bool sent = ::send(socket_, &message, 1, MSG_NOSIGNAL) == 1;
    if (sent) history_.begin(made);
    const char answer = sent ? received() : '\0';
    if (answer == detail::kFailed) throw std::runtime_error(text_of(shared));
    if (answer == detail::kChangedState) {
      throw KernelChangedState(text_of(shared), shared.only_flushes);
    }
    if (answer != detail::kReady) throw stopped_by(end());
  }

 private:
  void begin() {
    int sockets[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
      throw std::runtime_error(std::string("cannot make sockets: ") + std::strerror(errno));
    }
    const int memory = SharedMemory::instance().file();
    new (&shared_call()) KernelCall;
    std::fflush(nullptr);  // or exit() in the child would print it again
    child_ = fork_ ? fork_() : ::fork();
    if (child_ == 0) {
      ::close(sockets[0]);
      start_(sockets[1], memory);
      ::_exit(4);
    }
    ::close(sockets[1]);
    socket_ = sockets[0];
    if (child_ < 0) throw std::runtime_error(std::string("cannot fork: ") + std::strerror(errno));
    const char answer = received();
    if (answer == detail::kReady) return;
    if (answer == '\0') {
      const KernelStopped reason = stopped_by(end());
      throw KernelUnavailable(std::string("while the kernel was loaded: ") + reason.what());
    }
    end();
    throw KernelUnavailable(text_of(shared_call()));
  }

  KernelStopped stopped_by(int status) const {
    const KernelCall& noted = shared_call();
    if (WIFEXITED(status)) {
      return {Fault::crashed,
              "the kernel called exit(" + std::to_string(WEXITSTATUS(status)) + ")"};
    }
    const int number = WTERMSIG(status);
    if (number == SIGSYS) {
      return {Fault::changed_state,
              "the kernel changed the memory of its arrays by mprotect, munmap, mremap or mmap"};
    }
    if (noted.signal == number && noted.in_shared_memory && history_.has_calls()) {
      return KernelStopped(history_.described(noted.address, noted.wrote));
    }
    std::ostringstream text;
    text << "the kernel was ended by signal " << number << ", " << strsignal(number);
    if (noted.signal == number && (number == SIGSEGV || number == SIGBUS)) {
      text << ", when it " << (noted.wrote ? "wrote at" : "read at") << " address 0x" << std::hex
           << noted.address;
    }
    return {Fault::crashed, text.str()};
  }

  /// True if the child has ended. A process that it made may still hold the socket.
  bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
           info.si_pid == child_;
  }

  /// The next byte from the child; 0 if it has ended. Throws KernelStopped if it hangs. Time in
  /// which its threads get no processor does not count.
  char received() {
    using Clock = std::chrono::steady_clock;
    constexpr int kLook = 50;  // milliseconds between looks whether the child has ended
    const auto start = Clock::now();
    std::optional<detail::ProcessorWait> wait;  // from the first look on: most calls are faster
    for (;;) {
      pollfd waiting{socket_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, std::clamp(static_cast<int>(timeout_ * 1e3), 1, kLook));
      if (ready < 0 && errno == EINTR) continue;
      char answer = 0;
      if (ready > 0) return ::recv(socket_, &answer, 1, 0) == 1 ? answer : '\0';
      if (ended()) return '\0';
      if (!wait) wait.emplace(child_);
      const double passed = std::chrono::duration<double>(Clock::now() - start).count();
      if (passed < timeout_ || wait->seconds_served(passed) < timeout_) continue;
      ::kill(child_, SIGKILL);
      end();
      std::ostringstream text;
      text << "the kernel did not return within " << timeout_ << " s";
      throw KernelStopped(Fault::hung, text.str());
    }
  }

  /// Closes the socket, upon which the child ends, and returns its status. Processes that it made
  /// end, too.
  int end() noexcept {
    if (child_ < 0) return 0;
    ::close(socket_);
    // A thread of the kernel may keep the process alive.
    for (int waits = 0; !ended(); ++waits) {
      if (waits == 100) ::kill(child_, SIGKILL);
      ::usleep(waits < 50 ? 100 : 2000);
    }
    ::kill(-child_, SIGKILL);  // its group
    int status = 0;
    ::waitpid(child_, &status, 0);
    child_ = -1;
    return status;
  }

  StartKernel start_;
  double timeout_;
  Fork fork_;
  pid_t child_ = -1;
  int socket_ = -1;
  detail::CallHistory history_;
};

}  // namespace

Kernel kernel_in_process(const StartKernel& start, double timeout, const Fork& fork) {
  const auto process = std::make_shared<KernelProcess>(start, timeout, fork);
  return [process](const std::vector<Array>& inputs, const std::vector<Array>& outputs) {
    process->run(inputs, outputs);
  };
}

Kernel kernel_in_process(const Kernel& kernel, double timeout) {
  return kernel_in_process(
      [kernel](int socket, int memory) {
        serve_kernel(
            socket, memory, [&] { return on_two_threads(kernel); }, Device{});
      },
      timeout);
}

}  // namespace halfgrad::testing
