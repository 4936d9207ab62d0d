#include <halfgrad/amp/inspector/exponent_histogram.h>

#include <algorithm>
#include <functional>
#include <type_traits>

#include <halfgrad/core/fail.h>

namespace halfgrad::amp {

void ExponentHistogram::add(const Array& array, double divisor) {
  const Array here = array.to(kCPU).contiguous();
  visit(here.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (halfgrad::is_floating_point(dtype_of<T>())) {
      const T* element = here.data_as<T>();
      for (std::int64_t i = 0; i < here.numel(); ++i) {
        const double magnitude = std::fabs(static_cast<compute_t<T>>(element[i]) / divisor);
        if (magnitude == 0) {
          ++zeros_;
        } else if (std::isnan(magnitude)) {
          ++nans_;
        } else if (std::isinf(magnitude)) {
          ++infinities_;
        } else {
          ++counts_[static_cast<std::size_t>(std::clamp(std::ilogb(magnitude), kFirst, kLast) -
                                             kFirst)];
          largest_ = std::max(largest_, magnitude);
          smallest_ = std::min(smallest_, magnitude);
        }
      }
    } else {
      halfgrad::detail::fail("ExponentHistogram", "expected a floating-point dtype, got {}",
                             here.dtype());
    }
  });
}

void ExponentHistogram::add(const ExponentHistogram& other) {
  std::transform(counts_.begin(), counts_.end(), other.counts_.begin(), counts_.begin(),
                 std::plus<>());
  zeros_ += other.zeros_;
  infinities_ += other.infinities_;
  nans_ += other.nans_;
  largest_ = std::max(largest_, other.largest_);
  smallest_ = std::min(smallest_, other.smallest_);
}

std::int64_t ExponentHistogram::count(int exponent) const {
  return between(exponent, exponent + 1);
}

std::int64_t ExponentHistogram::between(int first, int end) const {
  std::int64_t sum = 0;
  for (int e = std::max(first, kFirst); e < std::min(end, kLast + 1); ++e) {
    sum += counts_[static_cast<std::size_t>(e - kFirst)];
  }
  return sum;
}

}  // namespace halfgrad::amp
