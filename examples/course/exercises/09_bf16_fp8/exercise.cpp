// Exercise 9: delayed scaling.
#include "exercise.h"

#include <algorithm>
#include <cmath>

void end_step(DelayedScale& tensor, double amax) {
  // solution begin
  // blank: tensor.history.push_back(amax);
  // blank: tensor.scale = tensor.largest / amax;  // the history, the margin, 0, inf and NaN?
  tensor.history.push_back(std::isfinite(amax) ? amax : 0);
  if (tensor.history.size() > tensor.length) tensor.history.erase(tensor.history.begin());
  const double largest = *std::max_element(tensor.history.begin(), tensor.history.end());
  if (largest > 0) tensor.scale = std::ldexp(tensor.largest / largest, -tensor.margin);
  // solution end
}
