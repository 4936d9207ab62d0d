#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

/// The search for the smallest input that shows a mistake.
namespace grade {

/// Removes elements of `input`, then replaces the others by 0, by 1, or by a value of few digits,
/// as long as `is_wrong` still holds, and returns the result. Calls it at most 4000 times.
inline std::vector<double> smallest_wrong(
    std::vector<double> input, const std::function<bool(const std::vector<double>&)>& is_wrong) {
  int calls = 0;
  const auto still_wrong = [&](const std::vector<double>& v) {
    return ++calls <= 4000 && is_wrong(v);
  };
  // Halves first, then quarters, and so on: a long input needs few calls.
  for (std::size_t chunk = (input.size() + 1) / 2; chunk > 0;
       chunk = chunk == 1 ? 0 : (chunk + 1) / 2) {
    for (std::size_t start = 0; start < input.size();) {
      std::vector<double> shorter(input.begin(),
                                  input.begin() + static_cast<std::ptrdiff_t>(start));
      const std::size_t rest = start + chunk;
      for (std::size_t i = rest; i < input.size(); ++i) shorter.push_back(input[i]);
      if (still_wrong(shorter)) {
        input = shorter;
      } else {
        start += chunk;
      }
    }
  }
  for (std::size_t i = 0; i < input.size(); ++i) {
    const double x = input[i];
    if (!std::isfinite(x)) continue;
    const double power = x == 0 ? 1 : std::pow(10.0, std::floor(std::log10(std::fabs(x))));
    for (const double simpler : {0.0, 1.0, std::trunc(x), power * std::round(x / power)}) {
      if (simpler == x) break;
      std::vector<double> other = input;
      other[i] = simpler;
      if (still_wrong(other)) {
        input = other;
        break;
      }
    }
  }
  return input;
}

}  // namespace grade
