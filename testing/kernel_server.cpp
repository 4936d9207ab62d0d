#include <halfgrad/testing/kernel_server.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#include <halfgrad/core/stream.h>
#include <halfgrad/testing/caller_state.h>
#include <halfgrad/testing/kernel_call.h>
#include <halfgrad/testing/process_seal.h>
#include <halfgrad/testing/process_settings.h>
#include <halfgrad/testing/resource_leaks.h>
#include <halfgrad/testing/shared_memory.h>

namespace halfgrad::testing {
namespace {

using detail::CallArray;
using detail::KernelCall;

std::byte* mapped = nullptr;
std::size_t mapped_bytes = 0;

KernelCall& call() { return *reinterpret_cast<KernelCall*>(mapped); }

bool was_write([[maybe_unused]] void* context) {
#if defined(__x86_64__)
  constexpr long long kWrite = 2;
  return (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & kWrite) != 0;
#else
  return false;
#endif
}

/// Notes where the kernel failed, and lets the signal end the process.
void note_signal(int number, siginfo_t* info, void* context) {
  KernelCall& noted = call();
  const bool has_address = number == SIGSEGV || number == SIGBUS;
  const auto* const address = static_cast<const std::byte*>(has_address ? info->si_addr : nullptr);
  const bool is_inside = address >= mapped && address < mapped + mapped_bytes;
  if (!is_inside && detail::has_own_handler(number)) {
    return detail::call_own_handler(number, info, context);
  }
  std::atomic_ref(noted.signal).store(number);
  noted.in_shared_memory = is_inside;
  noted.address = noted.in_shared_memory ? static_cast<std::uint64_t>(address - mapped)
                                         : reinterpret_cast<std::uintptr_t>(address);
  noted.wrote = has_address && was_write(context);
  detail::reset_handler(number);
  ::raise(number);
}

void handle_signals() {
  static std::byte stack[64 * 1024];
  const stack_t own{stack, 0, sizeof stack};
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = note_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int number : detail::kFatalSignals) ::sigaction(number, &action, nullptr);
}

/// The place of the arrays' memory: an address that neither programs nor libraries use, so that a
/// rule for system calls on it meets no others, in programs too that the kernel starts. Under the
/// thread sanitizer, which reserves such addresses, the system chooses.
#if defined(__SANITIZE_THREAD__)
#define HALFGRAD_ANY_PLACE
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HALFGRAD_ANY_PLACE
#endif
#endif
#if defined(HALFGRAD_ANY_PLACE)
void* const kPlace = nullptr;
#else
// NOLINTNEXTLINE(performance-no-int-to-ptr): a chosen address
void* const kPlace = reinterpret_cast<void*>(std::uintptr_t{0x2000'0000'0000});
#endif

void map(int memory) {
  struct stat file {};
  void* data = MAP_FAILED;
  if (::fstat(memory, &file) == 0) {
    mapped_bytes = static_cast<std::size_t>(file.st_size);
    data =
        ::mmap(kPlace, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory, 0);
  }
  if (data == MAP_FAILED) ::_exit(3);
  ::close(memory);
  mapped = static_cast<std::byte*>(data);
}

void allow(const CallArray& array, int protection) {
  if (array.bytes == 0) return;
  const auto [first, last] = detail::pages_of(array, page_bytes());
  detail::protect(mapped + first, last - first, protection);
}

/// Access to the pages of arrays, in a process whose kernel uses them directly.
class ArrayPages {
 public:
  /// Allows access to the pages of a call's arrays only. Inputs can only be read.
  void open(const KernelCall& call) {
    const std::size_t first = call.first_output();
    if (call.count != count_ || call.outputs != outputs_ || call.arrays != arrays_) {
      count_ = call.count;
      outputs_ = call.outputs;
      arrays_ = call.arrays;
      detail::protect(mapped + SharedMemory::kMessageBytes,
                      mapped_bytes - SharedMemory::kMessageBytes, PROT_NONE);
      for (std::size_t i = 0; i < first; ++i) allow(arrays_[i], PROT_READ);
    }
    // In place, the output is the first input.
    for (std::size_t i = first; i < count_; ++i) allow(arrays_[i], PROT_READ | PROT_WRITE);
  }
  /// Ends the writing to outputs: work that arrives after the return ends the process.
  void close() const {
    for (std::size_t i = count_ - outputs_; i < count_; ++i) allow(arrays_[i], PROT_READ);
  }

 private:
  std::uint32_t count_ = 0, outputs_ = 0;
  std::array<CallArray, detail::kMostArrays> arrays_{};
};

struct Strided {
  Shape sizes, strides;
};
Strided strided(const CallArray& given) {
  const auto count = static_cast<std::size_t>(given.ndim);
  return {Shape(given.sizes.data(), count), Shape(given.strides.data(), count)};
}

Array array_of(const CallArray& given) {
  const auto [sizes, strides] = strided(given);
  return Array::from_blob(mapped + given.data, sizes, strides, static_cast<DType>(given.dtype),
                          [] {});
}

/// An array on a GPU with the guards around it, at the same address modulo 256.
class DeviceImage {
 public:
  DeviceImage(const CallArray& given, Device device) {
    const auto dtype = static_cast<DType>(given.dtype);
    const auto item = static_cast<std::uint64_t>(item_size(dtype));
    const auto count = static_cast<std::int64_t>(given.storage_bytes / item);
    host_ = Array::from_blob(mapped + given.storage, {count}, {1}, dtype, [] {});
    storage_ = host_.to(device);  // both begin at a multiple of 256
    const auto [sizes, strides] = strided(given);
    view_ = storage_.as_strided(sizes, strides,
                                static_cast<std::int64_t>((given.data - given.storage) / item));
  }
  const Array& view() const { return view_; }
  void copy_back() const { host_.copy_(storage_); }

 private:
  Array host_, storage_, view_;
};

void run_on_device(const Kernel& kernel, const KernelCall& call, Device device) {
  std::vector<DeviceImage> images;
  std::vector<Array> inputs, outputs;
  const std::size_t first = call.first_output();
  for (std::size_t i = 0; i < call.count; ++i) {
    std::size_t image = images.size();
    for (std::size_t j = 0; i >= first && j < first; ++j) {
      if (call.arrays[j].data == call.arrays[i].data) image = j;  // in place
    }
    if (image == images.size()) images.emplace_back(call.arrays[i], device);
    (i < first ? inputs : outputs).push_back(images[image].view());
  }
  const Stream stream(device);
  stream.wait_stream(current_stream(device));
  {
    const StreamScope scope(stream);
    kernel(inputs, outputs);
  }
  stream.synchronize();
  for (const DeviceImage& image : images) image.copy_back();
}

void run(const Kernel& kernel, const KernelCall& call, Device device) {
  if (device != Device{}) return run_on_device(kernel, call, device);
  std::vector<Array> inputs, outputs;
  for (std::size_t i = 0; i < call.count; ++i) {
    (i < call.first_output() ? inputs : outputs).push_back(array_of(call.arrays[i]));
  }
  kernel(inputs, outputs);
}

void answer(const char* text) {
  KernelCall& answered = call();
  answered.threw = true;
  std::strncpy(answered.text.data(), text, answered.text.size() - 1);
}

/// Runs f. Returns kFailed, with the exception's text in the answer, if it throws.
template <class F>
char caught(const F& f) {
  call().threw = false;
  try {
    f();
  } catch (const std::exception& error) {
    answer(error.what());
  } catch (...) {
    answer("an exception of an unknown type");
  }
  return call().threw ? detail::kFailed : detail::kReady;
}

void send(int socket, char message) {
  if (::send(socket, &message, 1, MSG_NOSIGNAL) != 1) ::_exit(0);
}

/// State of the process over all calls.
struct ProcessWatch {
  detail::ProcessSettings settings{};
  detail::ResourceLeaks leaks{};
};

/// Runs the kernel as the call says. Returns the answer.
char answered(const Kernel& kernel, ArrayPages& pages, Device device, ProcessWatch& watch) {
  const KernelCall& given = call();
  const bool on_cpu = device == Device{};
  // Copies to a device read and write every array.
  if (on_cpu) pages.open(given);
  const detail::FloatingMode mode;
  const detail::FilledMemory filled;
  const detail::ProcessState state;
  const pid_t self = ::getpid();
  const char result = caught([&] { run(kernel, given, device); });
  if (::getpid() != self) ::_exit(0);  // a copy that the kernel made by fork()
  if (on_cpu) pages.close();
  // A thread that was stopped after the return is about to end the process.
  while (std::atomic_ref(call().signal).load() != 0) ::pause();
  const std::string mode_change = mode.change();
  std::string change = state.change();
  if (change.empty()) change = watch.settings.change();
  if (change.empty()) change = watch.leaks.after_call();
  if (mode_change.empty() && change.empty()) return result;
  call().only_flushes = change.empty() && mode.only_flushes();
  mode.restore();
  state.restore();
  watch.settings.restore();
  if (result == detail::kFailed) return result;
  answer(change.empty() ? mode_change.c_str() : change.c_str());
  return detail::kChangedState;
}

/// A kernel that calls exit() ends the process before the destructors of the check's static objects
/// run: they would wait for threads that fork() did not copy.
void end_without_destructors() {
  ::on_exit(
      [](int status, void*) {
        std::fflush(nullptr);
        ::_exit(status);
      },
      nullptr);
}

}  // namespace

void serve_kernel(int socket, int memory, const std::function<Kernel()>& make, Device device) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends with the check
  ::setpgid(0, 0);  // the check ends this group, with every process of the kernel
  ::dup2(::open("/dev/null", O_RDONLY), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);  // a kernel's prints are not part of the report
  map(memory);
  handle_signals();
  detail::seal_process(mapped, mapped == kPlace ? mapped_bytes : 0);
  end_without_destructors();
  Kernel kernel;
  send(socket, caught([&] { kernel = make(); }));
  ArrayPages pages;
  ProcessWatch watch;  // after the library was loaded, which may change settings
  for (char message = 0; ::recv(socket, &message, 1, 0) == 1;) {
    send(socket, answered(kernel, pages, device, watch));
  }
  ::_exit(0);
}

}  // namespace halfgrad::testing
