#include "kernel_process.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <halfgrad/core/device.h>
#include <halfgrad/testing/kernel_library.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/kernel_server.h>
#include <halfgrad/testing/second_thread.h>

namespace halfgrad::check {
namespace {

constexpr const char* kServe = "--serve-kernel";

/// Arguments after kServe.
enum Position { kSocket = 2, kMemory, kLibrary, kSymbol, kDevice, kCount };

/// Lets this process, and programs that it starts, no longer read the memory of others.
void drop_ptrace() {
  ::prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  if (::syscall(SYS_capget, &header, data) != 0) return;
  constexpr std::uint32_t kOthers = ~(std::uint32_t{1} << CAP_SYS_PTRACE);
  data[0].effective &= kOthers;
  data[0].permitted &= kOthers;
  data[0].inheritable &= kOthers;
  ::syscall(SYS_capset, &header, data);
}

void keep_open(int file) { ::fcntl(file, F_SETFD, 0); }

}  // namespace

testing::Kernel kernel_in_new_process(const std::string& library, const std::string& symbol,
                                      const std::string& device, double timeout) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const auto start = [=](int socket, int memory) {
    keep_open(socket);
    keep_open(memory);
    std::vector<std::string> arguments = {
        self, kServe, std::to_string(socket), std::to_string(memory), library, symbol, device};
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
  };
  return testing::kernel_in_process(testing::StartKernel(start), timeout);
}

void hide_from_kernels(int argc, char** argv) {
  ::prctl(PR_SET_DUMPABLE, 0);
  for (int i = 1; i < argc; ++i) {
    const bool follows = std::strcmp(argv[i - 1], "--seed") == 0;
    if (follows || std::strncmp(argv[i], "--seed=", 7) == 0) {
      std::memset(argv[i], '*', std::strlen(argv[i]));
    }
  }
}

bool is_kernel_process(int argc, char** argv) {
  return argc == kCount && std::strcmp(argv[1], kServe) == 0;
}

void run_kernel_process(char** argv) {
  const bool on_cpu = std::strcmp(argv[kDevice], "cpu") == 0;
  const auto make = [&] {
    const Device device(argv[kDevice]);
    const DeviceGuard guard(device);  // throws if there is no such GPU
    const testing::Kernel kernel = testing::load_kernel(argv[kLibrary], argv[kSymbol]);
    return on_cpu ? testing::on_two_threads(kernel) : kernel;
  };
  drop_ptrace();
  testing::serve_kernel(std::atoi(argv[kSocket]), std::atoi(argv[kMemory]), make,
                        on_cpu ? Device{} : Device(argv[kDevice]));
}

}  // namespace halfgrad::check
