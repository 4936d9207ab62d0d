// Channel descriptors: the formats of texels.
#include <algorithm>
#include <array>
#include <string>

#include <halfgrad/emulator/runtime/arrays.h>
#include <halfgrad/emulator/runtime/call.h>

namespace halfgrad::emulator {

cudaError_t texel_format(const char* function, const cudaChannelFormatDesc& descriptor,
                         TexelFormat& format) {
  if (descriptor.f > cudaChannelFormatKindNone) {
    report_call(FindingKind::invalid_call, function,
                "channel format kind " + std::to_string(descriptor.f) +
                    " (normalized, planar or block-compressed) is not emulated",
                Severity::note);
    return cudaErrorNotSupported;
  }
  const std::array<int, 4> bits{descriptor.x, descriptor.y, descriptor.z, descriptor.w};
  const auto channels = std::find(bits.begin(), bits.end(), 0) - bits.begin();
  const bool equal =
      std::all_of(bits.begin(), bits.begin() + channels,
                  [&](int each) { return each == bits[0]; }) &&
      std::all_of(bits.begin() + channels, bits.end(), [](int each) { return each == 0; });
  const bool is_float = descriptor.f == cudaChannelFormatKindFloat;
  const bool size = (bits[0] == 8 && !is_float) || bits[0] == 16 || bits[0] == 32;
  const bool count = channels == 1 || channels == 2 || channels == 4;
  if (!equal || !size || !count || descriptor.f == cudaChannelFormatKindNone) {
    report_call(FindingKind::invalid_call, function,
                "expected 1, 2 or 4 channels of 8, 16 or 32 bits (floats: 16 or 32), got " +
                    std::to_string(bits[0]) + ", " + std::to_string(bits[1]) + ", " +
                    std::to_string(bits[2]) + ", " + std::to_string(bits[3]),
                Severity::note);
    return cudaErrorInvalidChannelDescriptor;
  }
  format.kind = is_float                                        ? TexelKind::floating
                : descriptor.f == cudaChannelFormatKindUnsigned ? TexelKind::unsigned_integer
                                                                : TexelKind::signed_integer;
  format.channels = static_cast<std::uint8_t>(channels);
  format.channel_bytes = static_cast<std::uint8_t>(bits[0] / 8);
  return cudaSuccess;
}

HALFGRAD_EMULATOR_API cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                                  cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}

}  // namespace halfgrad::emulator
