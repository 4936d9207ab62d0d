// Exercise 4: count what underflows.
#include "exercise.h"

#include <cmath>

Counts count(const std::vector<float>& gradients, double scale) {
  Counts counts;
  for (const float gradient : gradients) {
    const double scaled = std::fabs(gradient * scale);
    // solution begin
    // blank: if (scaled == 0) ++counts.zero;  // and lost, subnormal, normal, overflow?
    if (gradient == 0) {
      ++counts.zero;
    } else if (scaled <= 0x1p-25) {  // the tie between 0 and 2^-24 goes to 0, which is even
      ++counts.lost;
    } else if (scaled < 1023.5 * 0x1p-24) {  // this tie goes to 2^-14, which is normal
      ++counts.subnormal;
    } else if (scaled < 65520) {  // this one would go to 65536, which fp16 lacks
      ++counts.normal;
    } else {  // infinities, and NaN, for which every comparison is false
      ++counts.overflow;
    }
    // solution end
  }
  return counts;
}
