#include <halfgrad/emulator/runtime/copy_overlap.h>

#include <cstdint>
#include <cstring>
#include <string>

#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {
namespace {

/// Addresses of the rows of one side of a copy, in the order of memory.
class Rows {
 public:
  Rows(const cudaPitchedPtr& memory, const cudaPos& position, const cudaExtent& extent)
      : pitch_(memory.pitch), slice_(memory.pitch * memory.ysize), height_(extent.height) {
    begin_ = reinterpret_cast<std::uint64_t>(memory.ptr) + position.z * slice_ +
             position.y * pitch_ + position.x;
  }
  std::uint64_t at(std::size_t row) const {
    return begin_ + row / height_ * slice_ + row % height_ * pitch_;
  }

 private:
  std::uint64_t begin_, pitch_, slice_;
  std::size_t height_;
};

bool is_same(const Rows& a, const Rows& b, std::size_t count) {
  return a.at(0) == b.at(0) && a.at(count - 1) == b.at(count - 1);
}

/// Whether a row of `a` and a row of `b` share bytes. Rows of one side do not overlap.
bool share_bytes(const Rows& a, const Rows& b, std::size_t count, std::size_t width) {
  std::size_t i = 0, j = 0;
  while (i < count && j < count) {
    const std::uint64_t left = a.at(i), right = b.at(j);
    if (left < right + width && right < left + width) return true;
    left < right ? ++i : ++j;
  }
  return false;
}

}  // namespace

void check_overlap(const char* function, const cudaMemcpy3DParms& parameters) {
  if (std::strcmp(function, "cudaMemcpy") == 0) return;
  const cudaExtent extent = parameters.extent;
  const std::size_t count = extent.height * extent.depth;
  if (count == 0 || extent.width == 0) return;
  const Rows source(parameters.srcPtr, parameters.srcPos, extent);
  const Rows target(parameters.dstPtr, parameters.dstPos, extent);
  if (is_same(source, target, count) || !share_bytes(source, target, count, extent.width)) return;
  report_call(
      FindingKind::invalid_call, function,
      "source and destination overlap, so the result is undefined: " + std::to_string(count) +
          (count == 1 ? " row of " : " rows of ") + std::to_string(extent.width) + " bytes from " +
          address_text(source.at(0)) + " to " + address_text(target.at(0)));
}

}  // namespace halfgrad::emulator
