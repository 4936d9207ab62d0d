// Kernels that end their process or do not return, for halfgrad_check.cmake.
#include <cstdlib>

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
