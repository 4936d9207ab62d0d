#include <halfgrad/testing/independence.h>

#include <algorithm>
#include <set>

namespace halfgrad::testing {

void expect_independent(DistributionReport& report, const Decisions& elements, std::int64_t row,
                        double agreement, const std::string& of) {
  const auto count = static_cast<std::int64_t>(elements.size());
  std::set<std::int64_t> lags;
  for (std::int64_t lag = 1; lag <= 256; ++lag) lags.insert(lag);
  for (std::int64_t lag = 512; lag <= count / 2; lag *= 2) lags.insert(lag);
  for (std::int64_t rows = 1; rows <= 8; ++rows) lags.insert(rows * row);
  for (const std::int64_t lag : lags) {
    constexpr std::int64_t kEnough = 1 << 16;  // elements for one of many short distances
    const std::int64_t end = lag <= 256 && lag != row ? std::min(count, kEnough) : count;
    std::int64_t agree = 0, pairs = 0;
    for (std::int64_t block = 0; block + lag < end; block += 2 * lag) {
      const std::int64_t length = std::min(lag, end - lag - block);
      const std::int32_t* const x = elements.data() + block;
      for (std::int64_t i = 0; i < length; ++i) agree += x[i] == x[i + lag];
      pairs += length;
    }
    report.expect_binomial("dependent", agree, pairs, agreement,
                           "elements agree with those " + std::to_string(lag) + " places on" + of);
  }
}

void expect_independent(DistributionReport& report, const Decisions& first, const Decisions& other,
                        double agreement, const std::string& of) {
  const auto count = static_cast<std::int64_t>(first.size());
  for (std::int64_t shift = -64; shift <= 64; ++shift) {
    const std::int64_t begin = std::max<std::int64_t>(0, -shift);
    const std::int64_t end = std::min(count, count - shift);
    std::int64_t agree = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      agree += first[static_cast<std::size_t>(i)] == other[static_cast<std::size_t>(i + shift)];
    }
    report.expect_binomial(
        "dependent", agree, std::max<std::int64_t>(0, end - begin), agreement,
        "elements agree with those " + std::to_string(shift) + " places on" + of);
  }
}

}  // namespace halfgrad::testing
