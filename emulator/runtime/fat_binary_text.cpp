#include <halfgrad/emulator/runtime/fat_binary_text.h>

#include <exception>

#include <halfgrad/emulator/ptx/fat_binary.h>
#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {

std::string ptx_for(const void* fat_binary, unsigned target) {
  try {
    return best_ptx(entries(fat_binary), target);
  } catch (const std::exception& error) {
    report_call(FindingKind::invalid_call, "loading kernels", error.what());
    throw CallFailed{cudaErrorNoKernelImageForDevice};
  }
}

}  // namespace halfgrad::emulator
