#include "kernel_process.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <halfgrad/core/device.h>
#include <halfgrad/testing/kernel_library.h>
#include <halfgrad/testing/kernel_process.h>
#include <halfgrad/testing/kernel_server.h>

namespace halfgrad::check {
namespace {

constexpr const char* kServe = "--serve-kernel";

/// Arguments after kServe.
enum Position { kSocket = 2, kMemory, kLibrary, kSymbol, kDevice, kCount };

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

bool is_kernel_process(int argc, char** argv) {
  return argc == kCount && std::strcmp(argv[1], kServe) == 0;
}

void run_kernel_process(char** argv) {
  const auto make = [&] {
    const Device device(argv[kDevice]);
    const DeviceGuard guard(device);  // throws if there is no such GPU
    return testing::load_kernel(argv[kLibrary], argv[kSymbol]);
  };
  const bool on_cpu = std::strcmp(argv[kDevice], "cpu") == 0;
  testing::serve_kernel(std::atoi(argv[kSocket]), std::atoi(argv[kMemory]), make,
                        on_cpu ? Device{} : Device(argv[kDevice]));
}

}  // namespace halfgrad::check
