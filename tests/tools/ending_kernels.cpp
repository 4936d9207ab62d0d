// Kernels that end their process, do not return, or look into the checker, for
// halfgrad_check.cmake.
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include <halfgrad/testing/kernel_abi.h>

extern "C" int sum_exits(const halfgrad_tensor*, int32_t, const halfgrad_tensor*, void*) {
  std::exit(0);
}

extern "C" int sum_writes_to_null(const halfgrad_tensor*, int32_t, const halfgrad_tensor*, void*) {
  *static_cast<volatile int*>(nullptr) = 1;
  return 0;
}

extern "C" int sum_throws(const halfgrad_tensor*, int32_t, const halfgrad_tensor*, void*) {
  throw 7;
}

extern "C" int sum_hangs(const halfgrad_tensor*, int32_t, const halfgrad_tensor*, void*) {
  for (;;) ::usleep(1000);
}

// A right sum that fails if it finds the seed among its parent's arguments, or can open its memory
// or its output.
extern "C" int sum_spies(const halfgrad_tensor* x, int32_t, const halfgrad_tensor* sum, void*) {
  const std::string parent = "/proc/" + std::to_string(::getppid());
  std::ifstream file(parent + "/cmdline");
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  if (arguments.empty() || arguments.find("424242") != std::string::npos) return 3;
  if (::open((parent + "/mem").c_str(), O_RDONLY) >= 0) return 4;
  if (::open((parent + "/fd/1").c_str(), O_WRONLY) >= 0) return 5;
  for (int64_t row = 0; row < x->sizes[0]; ++row) {
    float total = 0;
    for (int64_t i = 0; i < x->sizes[1]; ++i) {
      total += static_cast<const float*>(x->data)[row * x->sizes[1] + i];
    }
    static_cast<float*>(sum->data)[row] = total;
  }
  return 0;
}
