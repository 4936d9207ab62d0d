#include <halfgrad/emulator/runtime/fat_binary_text.h>

#include <cstdint>
#include <cstring>

#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {
namespace {

struct Header {
  std::uint32_t magic;
  std::uint16_t version, header_bytes;
  std::uint64_t bytes;
};
struct Entry {
  std::uint16_t kind, version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;
  std::uint32_t compressed_bytes, options;
  std::uint16_t minor, major;
  std::uint32_t target;
};
constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint16_t kPtx = 1;

}  // namespace

std::string ptx_for(const void* fat_binary, unsigned target) {
  const auto* header = static_cast<const Header*>(fat_binary);
  std::string best;
  std::uint32_t best_target = 0;
  if (header->magic == kMagic) {
    const auto* at = static_cast<const char*>(fat_binary) + header->header_bytes;
    for (const char* const end = at + header->bytes; at < end;) {
      const auto* entry = reinterpret_cast<const Entry*>(at);
      const char* text = at + entry->header_bytes;
      if (entry->kind == kPtx && entry->target <= target && entry->target >= best_target) {
        best_target = entry->target;
        best.assign(text, strnlen(text, entry->bytes));
      }
      at = text + entry->bytes;
    }
  }
  if (best.empty()) {
    report_call(FindingKind::invalid_call, "loading kernels",
                "expected PTX for sm_" + std::to_string(target) +
                    " or older; compile with nvcc -gencode arch=compute_80,code=compute_80");
    throw CallFailed{cudaErrorNoKernelImageForDevice};
  }
  return best;
}

}  // namespace halfgrad::emulator
