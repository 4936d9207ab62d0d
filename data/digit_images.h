#pragma once

#include <cstdint>
#include <vector>

#include <halfgrad/core/language.h>

namespace halfgrad::data {

/// Grey images of handwritten digits.
struct DigitImages {
  static constexpr std::int64_t kSide = 28;
  std::vector<std::uint8_t> pixels;  // [count, 28, 28]: 0 is paper, 255 is ink
  std::vector<std::int64_t> labels;  // [count]: 0 ... 9
};

}  // namespace halfgrad::data
