#include <halfgrad/testing/kernel_process.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <sstream>

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <halfgrad/testing/kernel_call.h>
#include <halfgrad/testing/kernel_server.h>
#include <halfgrad/testing/shared_memory.h>

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

/// Distance in bytes of an address from an array's elements.
std::uint64_t distance(const CallArray& array, std::uint64_t address) {
  if (address < array.data) return array.data - address;
  return address < array.data + array.bytes ? 0 : address - (array.data + array.bytes);
}

std::string shape_of(const CallArray& array) {
  return to_string(Shape(array.sizes.data(), static_cast<std::size_t>(array.ndim)));
}

/// Describes an access to a page that the kernel may not touch, by the nearest array.
KernelStopped stray_access(const KernelCall& made) {
  std::size_t nearest = made.count - 1;
  for (std::size_t i = 0; i < made.count; ++i) {
    if (distance(made.arrays[i], made.address) < distance(made.arrays[nearest], made.address)) {
      nearest = i;
    }
  }
  const CallArray& array = made.arrays[nearest];
  const auto item = static_cast<double>(item_size(static_cast<DType>(array.dtype)));
  const double bytes = static_cast<double>(made.address) - static_cast<double>(array.data);
  const auto element = static_cast<std::int64_t>(std::floor(bytes / item));
  const std::size_t first = made.first_output();
  const std::string what = nearest < first     ? "input " + std::to_string(nearest)
                           : made.outputs == 1 ? "the output"
                                               : "output " + std::to_string(nearest - first);
  const bool inside = made.address >= array.data && made.address < array.data + array.bytes;
  std::ostringstream text;
  text << (made.wrote ? "wrote at" : "read at") << " element " << element << " of " << what
       << ", which " << (inside ? "can only be read: its shape is " : "has shape ")
       << shape_of(array);
  constexpr std::uint64_t kFar = 1 << 16;
  if (distance(array, made.address) > kFar) text << "; an earlier call may still be at work";
  return {inside && made.wrote ? Fault::input_changed : Fault::out_of_bounds, text.str()};
}

KernelStopped stopped_by(int status) {
  const KernelCall& made = shared_call();
  if (WIFEXITED(status)) {
    return {Fault::crashed, "the kernel called exit(" + std::to_string(WEXITSTATUS(status)) + ")"};
  }
  const int number = WTERMSIG(status);
  if (made.signal == number && made.in_shared_memory && made.count > 0) return stray_access(made);
  std::ostringstream text;
  text << "the kernel was ended by signal " << number << ", " << strsignal(number);
  if (made.signal == number && (number == SIGSEGV || number == SIGBUS)) {
    text << ", when it " << (made.wrote ? "wrote at" : "read at") << " address 0x" << std::hex
         << made.address;
  }
  return {Fault::crashed, text.str()};
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
    KernelCall& made = shared_call();
    made.count = 0;
    for (const Array& input : inputs) made.arrays[made.count++] = described(input);
    for (const Array& output : outputs) made.arrays[made.count++] = described(output);
    made.outputs = static_cast<std::uint32_t>(outputs.size());
    const char message = detail::kRun;
    const bool sent = ::send(socket_, &message, 1, MSG_NOSIGNAL) == 1;
    const char answer = sent ? received() : '\0';
    if (answer == detail::kFailed) throw std::runtime_error(made.text.data());
    if (answer == '\0') throw stopped_by(end());
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
    throw KernelUnavailable(shared_call().text.data());
  }

  /// The next byte from the child; 0 if it has ended. Throws KernelStopped if it hangs.
  char received() {
    using Clock = std::chrono::steady_clock;
    const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_);
    for (;;) {
      const auto left = std::chrono::duration<double, std::milli>(deadline - Clock::now()).count();
      pollfd waiting{socket_, POLLIN, 0};
      const int ready = ::poll(&waiting, 1, static_cast<int>(std::clamp(left, 0.0, 1e9) + 1));
      if (ready < 0 && errno == EINTR) continue;
      char answer = 0;
      if (ready > 0) return ::recv(socket_, &answer, 1, 0) == 1 ? answer : '\0';
      ::kill(child_, SIGKILL);
      end();
      std::ostringstream text;
      text << "the kernel did not return within " << timeout_ << " s";
      throw KernelStopped(Fault::hung, text.str());
    }
  }

  /// Closes the socket, upon which the child ends, and returns its status.
  int end() noexcept {
    if (child_ < 0) return 0;
    ::close(socket_);
    int status = 0;
    // A thread of the kernel may keep the process alive.
    for (int waits = 0; ::waitpid(child_, &status, WNOHANG) == 0; ++waits) {
      if (waits == 100) ::kill(child_, SIGKILL);
      ::usleep(waits < 50 ? 100 : 2000);
    }
    child_ = -1;
    return status;
  }

  StartKernel start_;
  double timeout_;
  Fork fork_;
  pid_t child_ = -1;
  int socket_ = -1;
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
            socket, memory, [&] { return kernel; }, Device{});
      },
      timeout);
}

}  // namespace halfgrad::testing
