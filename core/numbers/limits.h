#pragma once

#include <cstdint>
#include <limits>

#include <halfgrad/core/dtype.h>

/// std::numeric_limits of Half and BFloat16. Without these, `std::numeric_limits<Half>::max()`
/// would compile, and be 0.
template <>
struct std::numeric_limits<halfgrad::Half> : std::numeric_limits<float> {
  using Half = halfgrad::Half;

  static constexpr int digits = 11, digits10 = 3, max_digits10 = 5;
  static constexpr int min_exponent = -13, min_exponent10 = -4;
  static constexpr int max_exponent = 16, max_exponent10 = 4;

  HG_HD static constexpr Half min() noexcept { return Half::from_bits(0x0400); }          // 2^-14
  HG_HD static constexpr Half max() noexcept { return Half::from_bits(0x7bff); }          // 65504
  HG_HD static constexpr Half lowest() noexcept { return Half::from_bits(0xfbff); }       // -65504
  HG_HD static constexpr Half epsilon() noexcept { return Half::from_bits(0x1400); }      // 2^-10
  HG_HD static constexpr Half round_error() noexcept { return Half::from_bits(0x3800); }  // 0.5
  HG_HD static constexpr Half infinity() noexcept { return Half::from_bits(0x7c00); }
  HG_HD static constexpr Half quiet_NaN() noexcept { return Half::from_bits(0x7e00); }
  HG_HD static constexpr Half signaling_NaN() noexcept { return Half::from_bits(0x7d00); }
  HG_HD static constexpr Half denorm_min() noexcept { return Half::from_bits(0x0001); }  // 2^-24
};

template <>
struct std::numeric_limits<halfgrad::BFloat16> : std::numeric_limits<float> {
  using BFloat16 = halfgrad::BFloat16;

  static constexpr int digits = 8, digits10 = 2, max_digits10 = 4;
  static constexpr int min_exponent = -125, min_exponent10 = -37;
  static constexpr int max_exponent = 128, max_exponent10 = 38;

  HG_HD static constexpr BFloat16 min() noexcept { return BFloat16::from_bits(0x0080); }  // 2^-126
  HG_HD static constexpr BFloat16 max() noexcept { return BFloat16::from_bits(0x7f7f); }
  HG_HD static constexpr BFloat16 lowest() noexcept { return BFloat16::from_bits(0xff7f); }
  HG_HD static constexpr BFloat16 epsilon() noexcept {
    return BFloat16::from_bits(0x3c00);
  }  // 2^-7
  HG_HD static constexpr BFloat16 round_error() noexcept { return BFloat16::from_bits(0x3f00); }
  HG_HD static constexpr BFloat16 infinity() noexcept { return BFloat16::from_bits(0x7f80); }
  HG_HD static constexpr BFloat16 quiet_NaN() noexcept { return BFloat16::from_bits(0x7fc0); }
  HG_HD static constexpr BFloat16 signaling_NaN() noexcept { return BFloat16::from_bits(0x7fa0); }
  HG_HD static constexpr BFloat16 denorm_min() noexcept { return BFloat16::from_bits(0x0001); }
};
