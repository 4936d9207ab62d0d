#include <halfgrad/emulator/runtime/fat_binary_text.h>

#include <exception>
#include <vector>

#include <halfgrad/emulator/ptx/fat_binary.h>
#include <halfgrad/emulator/ptx/linked_text.h>
#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {

namespace {

bool has_ptx(const void* fat_binary, unsigned target) {
  for (const FatBinaryEntry& entry : entries(fat_binary)) {
    if (entry.kind == FatBinaryEntry::Kind::ptx && entry.architecture <= target) return true;
  }
  return false;
}

}  // namespace

std::string ptx_for(const void* fat_binary, unsigned target) {
  try {
    return best_ptx(entries(fat_binary), target);
  } catch (const std::exception& error) {
    report_call(FindingKind::invalid_call, "loading kernels", error.what());
    throw CallFailed{cudaErrorNoKernelImageForDevice};
  }
}

std::string linked_ptx_for(std::span<const void* const> fat_binaries, unsigned target) {
  if (fat_binaries.size() == 1) return ptx_for(fat_binaries[0], target);
  std::vector<std::string> texts;
  for (const void* fat_binary : fat_binaries) {
    if (has_ptx(fat_binary, target)) texts.push_back(ptx_for(fat_binary, target));
  }
  if (texts.empty()) return ptx_for(fat_binaries[0], target);
  return link_texts(texts);
}

}  // namespace halfgrad::emulator
